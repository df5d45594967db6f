import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { until } from './api.js';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/** A line of a process's log. */
interface LogLine {
  level: string;
  msg: string;
  request_id?: string;
  [field: string]: unknown;
}

/** The API as a process of its own, from its build. */
export class ApiProcess {
  stdout = '';
  stderr = '';
  private readonly exitCode: Promise<number | null>;

  private constructor(private readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.exitCode = new Promise((resolve) => child.once('close', (code) => resolve(code)));
  }

  /** Starts it with these variables and no others. */
  static start(environment: Record<string, string>): ApiProcess {
    if (!existsSync(MAIN)) throw new Error('apps/api is not built: run npm run build');
    return new ApiProcess(spawn(process.execPath, [MAIN], { env: environment }));
  }

  /** The whole lines of its log so far. */
  get log(): LogLine[] {
    const whole = this.stdout.slice(0, this.stdout.lastIndexOf('\n') + 1);
    return whole.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as LogLine]));
  }

  /** Waits for a line of its log. */
  async line(msg: string): Promise<LogLine> {
    let found: LogLine | undefined;
    await until(() => {
      if (this.child.exitCode !== null) throw new Error(`it has ended: ${this.stderr}`);
      found = this.log.find((line) => line.msg === msg);
      return found !== undefined;
    }, 25_000);
    return found as LogLine;
  }

  /** Waits until it serves. */
  async ready(): Promise<{ port: number; metricsPort: number }> {
    const { address, metrics_port: metricsPort } = await this.line('ready');
    return { port: (address as { port: number }).port, metricsPort: metricsPort as number };
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Waits until it has ended and all its output is here. */
  exited(): Promise<number | null> {
    return this.exitCode;
  }

  /** Ends it if it runs. */
  async end(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exitCode;
  }
}
