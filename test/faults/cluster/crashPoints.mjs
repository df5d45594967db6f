import { readdirSync, readFileSync, writeSync } from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Preload of the fault suite (`NODE_OPTIONS=--import …`). A crash point is a comment in our sources, `// crash point: NAME`, which
 * production never reads. Where CRASH_POINTS names it, that comment of the built file becomes code while it is loaded:
 *
 *     CRASH_POINTS="api create after commit=0.02,worker after claim=#3:freeze,worker during call=#1:kill:20"
 *
 * The process kills or freezes itself with the given probability, or at the nth time that it comes by, after so many
 * milliseconds; and says so on standard error first. One that is frozen has to be continued from outside.
 */

const COMMENT = /^[ \t]*\/\/ crash point: (.+)$/gm;
const ROOT = new URL('../../../', import.meta.url);

/** @typedef {{ chance: number, hit: number, action: 'kill' | 'freeze', afterMs: number }} Order */

/**
 * All crash points of the built files.
 * @returns {{ name: string, file: string }[]}
 */
export function crashPoints() {
  return ['apps', 'packages'].flatMap((group) =>
    readdirSync(new URL(group, ROOT)).flatMap((workspace) => {
      const dist = new URL(`${group}/${workspace}/dist/`, ROOT);
      return builtFiles(dist).flatMap((path) => {
        const file = fileURLToPath(new URL(path, dist));
        return [...readFileSync(file, 'utf8').matchAll(COMMENT)].map(([, name = '']) => ({ name, file }));
      });
    }),
  );
}

/** @param {URL} folder */
function builtFiles(folder) {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.js'));
  } catch {
    return [];
  }
}

/**
 * Reads CRASH_POINTS.
 * @param {string} text
 * @param {ReadonlySet<string>} known
 * @returns {Map<string, Order>}
 * @throws {Error} when it is malformed or names a point that no built file has
 */
export function parseCrashPoints(text, known) {
  return new Map(
    text.split(',').map((part) => {
      const [, name, trigger = '', action = 'kill', afterMs = '0'] =
        /^([\w ]+)=(#[1-9]\d*|0\.\d+|1)(?::(kill|freeze))?(?::(\d+))?$/.exec(part) ?? [];
      if (name === undefined) throw new Error(`CRASH_POINTS is malformed: ${part}`);
      if (!known.has(name)) throw new Error(`CRASH_POINTS names no crash point: ${name}`);
      const nth = trigger.startsWith('#');
      return [
        name,
        {
          chance: nth ? 0 : Number(trigger),
          hit: nth ? Number(trigger.slice(1)) : 0,
          action: action === 'freeze' ? 'freeze' : 'kill',
          afterMs: Number(afterMs),
        },
      ];
    }),
  );
}

/**
 * What the comments become. Ends this process, or stops it, when a point's time has come.
 * @param {ReadonlyMap<string, Order>} orders
 */
function crasher(orders) {
  /** @type {Map<string, number>} */
  const hits = new Map();
  return (/** @type {string} */ name) => {
    const order = orders.get(name);
    if (order === undefined) return;
    const hit = (hits.get(name) ?? 0) + 1;
    hits.set(name, hit);
    if (hit !== order.hit && Math.random() >= order.chance) return;
    const act = () => {
      // Written by hand: a stream would still hold it when the process is gone.
      writeSync(2, `crash point: ${name}: ${order.action}\n`);
      process.kill(process.pid, order.action === 'kill' ? 'SIGKILL' : 'SIGSTOP');
    };
    if (order.afterMs === 0) act();
    else setTimeout(act, order.afterMs);
  };
}

const wanted = process.env['CRASH_POINTS'];
if (wanted) {
  const orders = parseCrashPoints(wanted, new Set(crashPoints().map(({ name }) => name)));
  Object.assign(globalThis, { onecodeCrashPoint: crasher(orders) });
  register('./crashPointLoader.mjs', import.meta.url, { data: [...orders.keys()] });
}
