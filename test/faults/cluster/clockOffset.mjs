/**
 * A preload of the fault suite: with CLOCK_OFFSET_MS the wall clock of the process is wrong by these milliseconds. Timers and
 * `performance` are not affected.
 */
const offsetMs = Number(process.env['CLOCK_OFFSET_MS'] ?? 0);

if (offsetMs !== 0) {
  const Real = Date;
  globalThis.Date = new Proxy(Real, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [Real.now() + offsetMs] : args, newTarget),
    apply: () => new Real(Real.now() + offsetMs).toString(),
    get: (target, name, receiver) =>
      name === 'now' ? () => Real.now() + offsetMs : Reflect.get(target, name, receiver),
  });
}
