import type { IRouter, RequestHandler } from 'express';
import { Problem } from '@onecode/domain';

/** Registers the methods of a path, and answers other methods with 405 and `Allow`. @param methods `all` runs first, for every method */
export function resource(
  router: IRouter,
  path: string | string[],
  { all, get, post }: { all?: RequestHandler; get?: RequestHandler; post?: RequestHandler },
): void {
  const route = router.route(path);
  if (all !== undefined) route.all(all);
  if (get !== undefined) route.get(get);
  if (post !== undefined) route.post(post);
  const allowed = [...(get ? ['GET', 'HEAD'] : []), ...(post ? ['POST'] : [])].join(', ');
  route.all((_request, response) => {
    response.setHeader('Allow', allowed);
    throw new Problem('method_not_allowed');
  });
}
