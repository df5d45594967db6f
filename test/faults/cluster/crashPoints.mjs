import { readdirSync, readFileSync, writeSync } from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * A preload of the fault suite (`NODE_OPTIONS=--import …`). A crash point is a comment in the sources, `// crash point: NAME`, which
 * stays a comment in production. When CRASH_POINTS names it, the comment in the built file becomes code while the file is loaded:
 *
 *     CRASH_POINTS="api create after commit=0.02,worker after claim=#3:freeze,worker during call=#1:kill:20"
 *
 * The process kills or freezes itself with the given probability or at the nth visit, after the given milliseconds. It first reports this
 * on standard error. A frozen process must be continued from outside. Names have only word characters and spaces.
 */

const COMMENT = /^[ \t]*\/\/ crash point: (.+)$/gm;
const ROOT = new URL('../../../', import.meta.url);

/** @typedef {{ probability: number, visit: number, action: 'kill' | 'freeze', afterMs: number }} Trigger */

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
 * Parses CRASH_POINTS.
 * @param {string} text
 * @param {ReadonlySet<string>} known
 * @returns {Map<string, Trigger>}
 * @throws {Error} when it is malformed or names an unknown crash point
 */
export function parseCrashPoints(text, known) {
  return new Map(
    text.split(',').map((part) => {
      const [, name, when = '', action = 'kill', afterMs = '0'] =
        /^([\w ]+)=(#[1-9]\d*|0\.\d+|1)(?::(kill|freeze))?(?::(\d+))?$/.exec(part) ?? [];
      if (name === undefined) throw new Error(`CRASH_POINTS is malformed: ${part}`);
      if (!known.has(name)) throw new Error(`CRASH_POINTS names no crash point: ${name}`);
      const isVisit = when.startsWith('#');
      return [
        name,
        {
          probability: isVisit ? 0 : Number(when),
          visit: isVisit ? Number(when.slice(1)) : 0,
          action: action === 'freeze' ? 'freeze' : 'kill',
          afterMs: Number(afterMs),
        },
      ];
    }),
  );
}

/**
 * Creates the function that the comments call. It kills or freezes this process when a trigger applies.
 * @param {ReadonlyMap<string, Trigger>} triggers
 */
function createVisitor(triggers) {
  /** @type {Map<string, number>} */
  const visits = new Map();
  return (/** @type {string} */ name) => {
    const trigger = triggers.get(name);
    if (trigger === undefined) return;
    const visit = (visits.get(name) ?? 0) + 1;
    visits.set(name, visit);
    if (visit !== trigger.visit && Math.random() >= trigger.probability) return;
    const act = () => {
      // Synchronously: a stream would not be flushed before the process ends.
      writeSync(2, `crash point: ${name}: ${trigger.action}\n`);
      process.kill(process.pid, trigger.action === 'kill' ? 'SIGKILL' : 'SIGSTOP');
    };
    if (trigger.afterMs === 0) act();
    else setTimeout(act, trigger.afterMs);
  };
}

const configured = process.env['CRASH_POINTS'];
if (configured) {
  const triggers = parseCrashPoints(configured, new Set(crashPoints().map(({ name }) => name)));
  Object.assign(globalThis, { onecodeCrashPoint: createVisitor(triggers) });
  register('./crashPointLoader.mjs', import.meta.url, { data: [...triggers.keys()] });
}
