import { Router } from 'express';

/** `/livez`: the process answers. `/readyz`: 503 from the moment that it begins to stop. */
export function health(isReady: () => boolean): Router {
  const router = Router();
  router.get('/livez', (_request, response) => {
    response.set('Cache-Control', 'no-store').json({ status: 'ok' });
  });
  router.get('/readyz', (_request, response) => {
    const ready = isReady();
    response
      .status(ready ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status: ready ? 'ok' : 'stopping' });
  });
  return router;
}
