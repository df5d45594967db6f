import { startProcess, until, type LogLine, type StartedProcess } from '@onecode/testing';

/** How a process ended. */
export interface ProcessExit {
  process: string;
  /** The crash point at which it killed itself. */
  crashPoint: string | null;
  /** By a signal of the suite or at a crash point. */
  killed: boolean;
  /** What was wrong; null for a kill and for a graceful stop with exit code 0. */
  problem: string | null;
}

interface Ports {
  /** 0 if the program serves only metrics. */
  port: number;
  metricsPort: number;
}

export interface SupervisedOptions {
  name: string;
  path: string;
  /** Called at each start. */
  env: () => Record<string, string>;
  onReady: (ports: Ports) => void;
  onExit: (exit: ProcessExit) => void;
}

/** How long a crash point freezes a process: longer than any lease. */
const FREEZE_MS = 9_000;
const START_MS_MAX = 60_000;

/** A built program that restarts at once whenever it ends, as under an orchestrator. */
export class SupervisedProcess {
  readonly name: string;
  readonly #options: SupervisedOptions;
  #current!: StartedProcess;
  #signal: 'SIGKILL' | 'SIGTERM' | null = null;
  #closing = false;
  #frozen = 0;
  #ready = false;
  /** The number of error lines of all its runs, by kind. */
  readonly errors = new Map<string, number>();
  /** How often it was frozen at a crash point. */
  freezes = 0;
  metricsPort = 0;

  constructor(options: SupervisedOptions) {
    this.name = options.name;
    this.#options = options;
    this.#start();
  }

  get isReady(): boolean {
    return this.#ready;
  }

  /** Waits until the current run is ready. */
  async untilReady(): Promise<void> {
    await until(`${this.name} ready`, () => this.#ready, START_MS_MAX);
  }

  kill(): void {
    this.#signal = 'SIGKILL';
    this.#ready = false;
    this.#current.signal('SIGKILL');
  }

  /** Requests a graceful stop and waits for the exit. */
  async terminate(): Promise<void> {
    const { exited } = this.#current;
    this.#signal ??= 'SIGTERM';
    this.#ready = false;
    this.#current.signal('SIGTERM');
    await exited;
  }

  /** Waits until it is no longer frozen at a crash point. */
  async untilResumed(): Promise<void> {
    await until(`${this.name} resumed`, () => this.#frozen === 0, START_MS_MAX);
    await this.untilReady();
  }

  /** Stops it for good. */
  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    this.#signal = 'SIGTERM';
    this.#current.signal('SIGCONT');
    await this.#current.stop();
  }

  #start(): void {
    this.#signal = null;
    const started = startProcess(this.#options.path, this.#options.env());
    this.#current = started;
    void this.#awaitReadiness(started);
    void started.exited.then(() => this.#handleExit(started));
    this.#resumeAfterFreezes(started);
  }

  async #awaitReadiness(started: StartedProcess): Promise<void> {
    const line = await until(
      `${this.name} ready`,
      () => started.ended() ?? readyLine(started),
      START_MS_MAX,
    ).catch(() => null);
    if (line === null || started.ended() !== null) return;
    const { address, metrics_port: metricsPort } = line as LogLine;
    this.metricsPort = Number(metricsPort);
    this.#ready = true;
    this.#options.onReady({
      port: (address as { port?: number } | undefined)?.port ?? 0,
      metricsPort: this.metricsPort,
    });
  }

  async #handleExit(started: StartedProcess): Promise<void> {
    this.#ready = false;
    const exit = started.ended();
    const crashPoint = /^crash point: (.+): kill$/m.exec(started.stderr())?.[1] ?? null;
    const killed = exit?.signal === 'SIGKILL' && (this.#signal === 'SIGKILL' || crashPoint !== null);
    const graceful = this.#signal === 'SIGTERM' && exit?.code === 0;
    this.#countErrors(started);
    const problem =
      killed || graceful
        ? null
        : `${this.name} ended with ${exit?.signal ?? exit?.code}: ${lastLines(started)}`;
    this.#options.onExit({ process: this.name, crashPoint, killed, problem });
    if (!this.#closing) this.#start();
  }

  /** Continues the process when a crash point has frozen it and its leases have ended. */
  #resumeAfterFreezes(started: StartedProcess): void {
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
        }, FREEZE_MS);
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

function readyLine(started: StartedProcess): LogLine | undefined {
  const line = /^\{.*"msg":"ready".*\}$/m.exec(started.stdout())?.[0];
  return line === undefined ? undefined : (JSON.parse(line) as LogLine);
}

/** The kind of an error, without the numbers in its message. */
function errorKind(line: LogLine): string {
  const { err } = line as { err?: { type?: string; code?: string; message?: string } };
  const message = err?.message?.replaceAll(/\s+/g, ' ').replaceAll(/\d+/g, 'N').slice(0, 240);
  return [line['level'], line.msg, err?.type, err?.code, message].filter(Boolean).join(' | ');
}

const lastLines = (started: StartedProcess): string =>
  started.output().trimEnd().split('\n').slice(-3).join('\n');
