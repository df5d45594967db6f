/**
 * Opens something before the tests of a file, and closes it after them.
 *
 * @returns a proxy of the opened object, for use inside hooks and tests only; it cannot be spread
 */
export function openForFile<Opened extends object>(
  open: () => Promise<Opened>,
  close: (opened: Opened) => Promise<unknown>,
): Opened {
  let opened: Opened | undefined;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened && close(opened));
  return new Proxy({} as Opened, {
    get(_, name) {
      const value: unknown = Reflect.get(opened!, name);
      return typeof value === 'function' ? (value.bind(opened) as unknown) : value;
    },
  });
}
