import type { IRouter, RequestHandler } from 'express';
import { Problem } from '@onecode/domain';

/** Registers the methods of a path, and answers other methods with 405 and `Allow`. */
export function resource(
  router: IRouter,
  path: string | string[],
  { get, post }: { get?: RequestHandler; post?: RequestHandler },
): void {
  const route = router.route(path);
  if (get !== undefined) route.get(get);
  if (post !== undefined) route.post(post);
  const allowed = [...(get ? ['GET', 'HEAD'] : []), ...(post ? ['POST'] : [])].join(', ');
  route.all((_request, response) => {
    response.setHeader('Allow', allowed);
    throw new Problem('method_not_allowed');
  });
}
