import {
  openForFile,
  startProcess,
  until,
  untilReady,
  type Exit,
  type StartedProcess,
} from '@onecode/testing';
import { WorkerEnvironment } from './workerEnvironment.js';
import { workerVariables } from './testWorker.js';

/** The time limit of a test that starts processes. On a busy machine each start takes seconds. */
export const PROCESSES_MS_MAX = 90_000;

/** The built worker in a separate process. */
export interface WorkerProcess extends StartedProcess {
  /** Returns the status and text of `/livez`, `/readyz` or `/metrics`. */
  ask(path: string): Promise<{ status: number; text: string }>;
}

/** Starts a worker process in this environment, and waits for its log line `ready`. */
export async function startWorkerProcess(
  environment: WorkerEnvironment,
  env: Record<string, string> = {},
): Promise<WorkerProcess> {
  const started = startProcess('apps/worker/dist/main.js', workerVariables(environment, env));
  const { metrics_port: port } = await untilReady(started);
  return {
    ...started,
    async ask(path) {
      const response = await fetch(`http://127.0.0.1:${String(port)}${path}`);
      return { status: response.status, text: await response.text() };
    },
  };
}

/** Waits until `/readyz` of a worker answers 200. */
export async function untilServing(worker: WorkerProcess): Promise<void> {
  await until('a worker that is ready', async () => (await worker.ask('/readyz')).status === 200);
}

/** How long a worker may take to stop. */
export const STOP_MS_MAX = 10_000;

/** Stops a process with SIGTERM. @returns its exit, and the milliseconds that it took */
export async function stopped(worker: WorkerProcess): Promise<Exit & { ms: number }> {
  const begin = performance.now();
  worker.signal('SIGTERM');
  const exit = await worker.exited;
  return { ...exit, ms: performance.now() - begin };
}

/** Opens one environment for all tests of a file, and stops the workers of each test at its end. */
export function useWorkerProcesses(): {
  environment: WorkerEnvironment;
  start: (env?: Record<string, string>) => Promise<WorkerProcess>;
} {
  const environment = openForFile(
    () => WorkerEnvironment.open(),
    (opened) => opened.close(),
  );
  const processes: WorkerProcess[] = [];
  beforeEach(() => environment.reset());
  afterEach(async () => {
    for (const process of processes.splice(0)) await process.stop();
  });
  return {
    environment,
    async start(env = {}) {
      const started = await startWorkerProcess(environment, env);
      processes.push(started);
      return started;
    },
  };
}
