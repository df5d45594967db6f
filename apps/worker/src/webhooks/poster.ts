import type { LookupAddress, LookupOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { callbackify } from 'node:util';
import ipaddr from 'ipaddr.js';
import { Agent, request } from 'undici';

const TIMEOUT_MS = 15_000;
/** Responses are read up to this size and discarded. */
const ANSWER_BYTES_MAX = 4_096;

/** The status of the receiver's response, or a code for why there is none. */
type Posted = { status: number } | { error: string };

/**
 * In IPv6-only networks, name servers return an address with this prefix for an IPv4-only host; its last 32 bits are the IPv4 address (RFC
 * 6052).
 */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');

/** Returns whether an address is public: outside of this machine, its network and its cloud. */
export function isPublicAddress(address: string): boolean {
  const ip = ipaddr.process(address);
  if (ip.kind() === 'ipv6' && ip.match(NAT64)) return isPublicAddress(ip.toByteArray().slice(-4).join('.'));
  // Of IPv6, global unicast only: https://www.iana.org/assignments/ipv6-address-space
  return ip.range() === 'unicast' && (ip.kind() === 'ipv4' || ip.match(ipaddr.parseCIDR('2000::/3')));
}

class PrivateAddress extends Error {
  readonly code = 'private_address';
}

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

const LOOKUP = { timeout: 2_000, tries: 2 };

/**
 * Returns the addresses of a name. @throws Error if it does not resolve, or if one of its addresses is not public. The name `localhost` and
 * its subdomains are never public (RFC 6761, 6.3).
 */
async function addressesOf(resolver: Resolver, hostname: string): Promise<LookupAddress[]> {
  if (/(?:^|\.)localhost\.?$/i.test(hostname)) throw new PrivateAddress();
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [
    ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (addresses.length === 0 && v4.status === 'rejected') throw v4.reason;
  if (!addresses.every(({ address }) => isPublicAddress(address))) throw new PrivateAddress();
  return addresses;
}

/**
 * Returns a look-up function for connections. The connection uses the addresses that were checked, so a name cannot change in between (DNS
 * rebinding). It queries name servers itself: the owner of a name can delay its look-up, and a delayed system look-up blocks one of the few
 * threads that look-ups for Meta also use.
 */
function publicLookup(nameServers: readonly string[]) {
  const resolver = new Resolver(LOOKUP);
  if (nameServers.length > 0) resolver.setServers(nameServers);
  const find = callbackify((hostname: string) => addressesOf(resolver, hostname));
  return (hostname: string, options: LookupOptions, callback: LookupCallback): void =>
    find(hostname, (error, addresses) => {
      if (error !== null) callback(error, []);
      else if (options.all === true) callback(null, addresses);
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
}

export interface Poster {
  post(url: string, headers: Record<string, string>, body: string): Promise<Posted>;
  close(): Promise<void>;
}

/**
 * Opens an HTTP client for receivers. It follows no redirects and waits up to 15 seconds. @param nameServers used instead of the system's
 */
export function openPoster(addresses: 'public' | 'any', nameServers: readonly string[] = []): Poster {
  const isAny = addresses === 'any';
  // Connections are not reused, so that the next event finds a receiver that has moved.
  const agent = new Agent({ connect: isAny ? {} : { lookup: publicLookup(nameServers) }, pipelining: 0 });
  return {
    async post(url, headers, body) {
      const { hostname, protocol } = new URL(url);
      const literal = hostname.replace(/^\[|\]$/g, '');
      // `publicLookup` checks names, but is not called for literal addresses.
      if (!isAny && (protocol !== 'https:' || (isIP(literal) !== 0 && !isPublicAddress(literal))))
        return { error: 'private_address' };
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      try {
        const answer = await request(url, { method: 'POST', dispatcher: agent, headers, body, signal });
        await answer.body.dump({ limit: ANSWER_BYTES_MAX, signal }).catch(() => undefined);
        return { status: answer.statusCode };
      } catch (error) {
        return { error: codeOf(error) };
      }
    },
    close: () => agent.destroy(),
  };
}

/** Returns a code such as `ECONNREFUSED`, `ENOTFOUND` or `timeout`. */
function codeOf(error: unknown): string {
  const { name, code } = error as { name?: unknown; code?: unknown };
  if (name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT') return 'timeout';
  return typeof code === 'string' ? code.slice(0, 100) : 'unknown';
}
