import { route, type Route } from '../../http/route.js';
import { healthView } from './view.js';

/** The health of Onecode: is it us, Redis, PostgreSQL or Meta? */
export const healthRoutes: readonly Route[] = [
  route('get', '/staff/health', 'on_call', {
    async handle({ context }) {
      return healthView(await context.readHealth(), new Date());
    },
  }),
];
