import { Problem, PROBLEMS } from '@onecode/domain';
import { startLocalServer } from '@onecode/testing';
import express, { type NextFunction, type Request, type Response } from 'express';
import { docsRouter } from '../src/docs.js';

export interface DocsServer {
  base: string;
  close(): Promise<unknown>;
}

/** Serves only the documentation, as the API would at `baseUrl`. */
export async function serveDocs(
  baseUrl: string,
  { docsUrl = `${baseUrl}/docs`, consoleUrl = '' } = {},
): Promise<DocsServer> {
  const app = express();
  app.use(docsRouter({ BASE_URL: baseUrl, DOCS_URL: docsUrl, CONSOLE_URL: consoleUrl }));
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    response.status(error instanceof Problem ? PROBLEMS[error.code].status : 500).end();
  });
  const server = await startLocalServer(app);
  return { base: server.url, close: () => server.close() };
}
