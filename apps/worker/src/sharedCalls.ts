interface Waiting<W, R> {
  want: W;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

/**
 * Lets wants that come in while a call is under way share the next one, so that a busy caller makes few calls and an idle one
 * waits for nothing. A call that fails fails its own wants only.
 *
 * @param call answers one result for each want, in their order
 * @param wantsMax of one call
 */
export function shareCalls<W, R>(
  call: (wants: W[]) => Promise<R[]>,
  wantsMax: number,
): (want: W) => Promise<R> {
  const waiting: Waiting<W, R>[] = [];
  let busy = false;

  const work = async (): Promise<void> => {
    busy = true;
    while (waiting.length > 0) {
      const group = waiting.splice(0, wantsMax);
      try {
        const results = await call(group.map(({ want }) => want));
        for (const [place, { resolve }] of group.entries()) resolve(results[place] as R);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    busy = false;
  };

  return (want) =>
    new Promise((resolve, reject) => {
      waiting.push({ want, resolve, reject });
      if (!busy) void work();
    });
}
