import { startProcess, until, type StartedProcess } from '@onecode/testing';

/** A line of the log. */
interface LogLine {
  level: string;
  msg: string;
  request_id?: string;
  [field: string]: unknown;
}

/** The built API as a process of its own. */
export class ApiProcess {
  private constructor(private readonly started: StartedProcess) {}

  /** Starts it with these variables and no others. */
  static start(environment: Record<string, string>): ApiProcess {
    return new ApiProcess(startProcess('apps/api/dist/main.js', environment));
  }

  get stdout(): string {
    return this.started.stdout();
  }

  get stderr(): string {
    return this.started.stderr();
  }

  /** The complete lines of its log so far. */
  get log(): LogLine[] {
    const whole = this.stdout.slice(0, this.stdout.lastIndexOf('\n') + 1);
    return whole.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as LogLine]));
  }

  /** Waits for a line of its log. */
  async line(msg: string): Promise<LogLine> {
    const look = (): LogLine | undefined => {
      if (this.started.ended() !== null) throw new Error(`it has ended: ${this.stderr}`);
      return this.log.find((line) => line.msg === msg);
    };
    return until(`the line “${msg}”`, look, 25_000);
  }

  /** Waits for its log line `ready`. */
  async ready(): Promise<{ port: number; metricsPort: number }> {
    const { address, metrics_port: metricsPort } = await this.line('ready');
    return { port: (address as { port: number }).port, metricsPort: metricsPort as number };
  }

  signal(signal: 'SIGTERM' | 'SIGINT'): void {
    this.started.signal(signal);
  }

  /** Waits until it has ended and all its output has been read. */
  async exited(): Promise<number | null> {
    return (await this.started.exited).code;
  }

  /** Kills it if it still runs. */
  async end(): Promise<void> {
    this.started.signal('SIGKILL');
    await this.started.exited;
  }
}
