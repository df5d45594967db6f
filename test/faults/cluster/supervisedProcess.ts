import { startProcess, type LogLine, type StartedProcess } from '../../harness/startedProcess.js';
import { until } from '../../harness/until.js';
import { freezeFor } from './services.js';

/** How a life of a process ended. */
export interface End {
  process: string;
  /** The crash point at which it killed itself. */
  point: string | null;
  /** By a signal of ours or at a crash point. */
  killed: boolean;
  /** What was wrong with it; null for a kill, and for a graceful stop that ended as it should. */
  fault: string | null;
}

interface Ports {
  /** 0 where the program serves nothing but metrics. */
  port: number;
  metricsPort: number;
}

export interface SupervisedOptions {
  name: string;
  path: string;
  /** Asked at each start. */
  env: () => Record<string, string>;
  onUp: (ports: Ports) => void;
  onEnd: (end: End) => void;
}

/** A frozen process is continued after this: longer than any lease. */
const STALE_MS = 9_000;
const START_MS_MAX = 60_000;

/** A built program that is started again at once whenever it ends, as an orchestrator does. */
export class Supervised {
  readonly name: string;
  readonly #options: SupervisedOptions;
  #current!: StartedProcess;
  #ordered: 'SIGKILL' | 'SIGTERM' | null = null;
  #closing = false;
  #frozen = 0;
  #up = false;
  /** Error lines of all lives, as kind and count. */
  readonly errors = new Map<string, number>();
  lives = 0;
  /** How often it was frozen at a crash point. */
  freezes = 0;
  metricsPort = 0;

  constructor(options: SupervisedOptions) {
    this.name = options.name;
    this.#options = options;
    this.#start();
  }

  get isUp(): boolean {
    return this.#up;
  }

  /** Waits until the life of now serves. */
  async untilUp(): Promise<void> {
    await until(`${this.name} up`, () => this.#up, START_MS_MAX);
  }

  kill(): void {
    this.#ordered = 'SIGKILL';
    this.#up = false;
    this.#current.signal('SIGKILL');
  }

  /** Asks for a graceful stop and waits for its end. */
  async terminate(): Promise<void> {
    const { exited } = this.#current;
    this.#ordered ??= 'SIGTERM';
    this.#up = false;
    this.#current.signal('SIGTERM');
    await exited;
  }

  /** @returns when it goes on */
  freeze(ms: number): Promise<void> {
    return freezeFor([this.#current.pid], ms);
  }

  /** Waits until no crash point holds it frozen. */
  async untilAwake(): Promise<void> {
    await until(`${this.name} awake`, () => this.#frozen === 0, START_MS_MAX);
    await this.untilUp();
  }

  /** Stops it for good. */
  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    this.#ordered = 'SIGTERM';
    this.#current.signal('SIGCONT');
    await this.#current.stop();
  }

  #start(): void {
    this.lives += 1;
    this.#ordered = null;
    const started = startProcess(this.#options.path, this.#options.env());
    this.#current = started;
    void this.#announce(started);
    void started.exited.then(() => this.#ended(started));
    this.#watchFreezes(started);
  }

  async #announce(started: StartedProcess): Promise<void> {
    const line = await until(
      `${this.name} ready`,
      () => started.ended() ?? firstReady(started),
      START_MS_MAX,
    ).catch(() => null);
    if (line === null || started.ended() !== null) return;
    const { address, metrics_port: metricsPort } = line as LogLine;
    this.metricsPort = Number(metricsPort);
    this.#up = true;
    this.#options.onUp({
      port: (address as { port?: number } | undefined)?.port ?? 0,
      metricsPort: this.metricsPort,
    });
  }

  async #ended(started: StartedProcess): Promise<void> {
    this.#up = false;
    const exit = started.ended();
    const point = /^crash point: (.+): kill$/m.exec(started.stderr())?.[1] ?? null;
    const killed = exit?.signal === 'SIGKILL' && (this.#ordered === 'SIGKILL' || point !== null);
    const graceful = this.#ordered === 'SIGTERM' && exit?.code === 0;
    this.#countErrors(started);
    const fault =
      killed || graceful
        ? null
        : `${this.name} ended with ${exit?.signal ?? exit?.code}: ${lastLines(started)}`;
    this.#options.onEnd({ process: this.name, point, killed, fault });
    if (!this.#closing) this.#start();
  }

  /** A crash point may freeze the process; it wakes up when its leases are over. */
  #watchFreezes(started: StartedProcess): void {
    let seen = 0;
    const timer = setInterval(() => {
      const frozen = started.stderr().match(/^crash point: .+: freeze$/gm)?.length ?? 0;
      if (frozen > seen) {
        seen = frozen;
        this.#frozen += 1;
        this.freezes += 1;
        setTimeout(() => {
          this.#frozen -= 1;
          started.signal('SIGCONT');
        }, STALE_MS);
      }
    }, 200);
    void started.exited.then(() => clearInterval(timer));
  }

  #countErrors(started: StartedProcess): void {
    for (const line of started.log()) {
      if (line['level'] !== 'error' && line['level'] !== 'fatal') continue;
      const kind = errorKind(line);
      this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1);
    }
  }
}

function firstReady(started: StartedProcess): LogLine | undefined {
  const line = /^\{.*"msg":"ready".*\}$/m.exec(started.stdout())?.[0];
  return line === undefined ? undefined : (JSON.parse(line) as LogLine);
}

/** What an error is, without what differs from one to the next. */
function errorKind(line: LogLine): string {
  const { err } = line as { err?: { type?: string; code?: string; message?: string } };
  const message = err?.message?.replaceAll(/\s+/g, ' ').replaceAll(/\d+/g, 'N').slice(0, 240);
  return [line['level'], line.msg, err?.type, err?.code, message].filter(Boolean).join(' | ');
}

const lastLines = (started: StartedProcess): string =>
  started.output().trimEnd().split('\n').slice(-3).join('\n');
