import express, { Router } from 'express';
import { json, refuse } from './answers.js';
import type { Business } from './business.js';
import { graphError } from './errors.js';
import { isObject } from './input.js';
import { permission } from './reads.js';

/**
 * `/{version}/{number}/settings`, as far as it tells of the identity check. Meta's guide and its OpenAPI document name the switch
 * differently; both are taken.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/business-phone-numbers/phone-numbers#identity-change-check
 */
export function numberSettings(business: Business): Router {
  const router = Router();
  const path = /^\/v\d+\.\d+\/(?<id>[^/]+)\/settings\/?$/;
  router.get(path, (request, response) => {
    const id = String(request.params['id']);
    const refused = permission(business, request, id);
    if (refused) return refuse(response, refused);
    const { identityKeyCheck } = business.senders.describe(id);
    json(response, 200, { user_identity_change: { enable_identity_key_check: identityKeyCheck } });
  });
  router.post(path, express.json({ limit: '64kb' }), (request, response) => {
    const id = String(request.params['id']);
    const refused = permission(business, request, id);
    if (refused) return refuse(response, refused);
    const wanted = switchOf(request.body);
    if (wanted === undefined)
      return refuse(response, graphError(400, 100, '(#100) The parameter user_identity_change is required'));
    business.senders.change(id, { identityKeyCheck: wanted });
    json(response, 200, { success: true });
  });
  return router;
}

function switchOf(body: unknown): boolean | undefined {
  const change = isObject(body) ? body['user_identity_change'] : undefined;
  if (!isObject(change)) return undefined;
  const wanted = change['enable_identity_key_check'] ?? change['enabled'];
  return typeof wanted === 'boolean' ? wanted : undefined;
}
