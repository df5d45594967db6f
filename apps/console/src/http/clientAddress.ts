import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/** Of IPv4, what is handed out and announced as one: a provider's customer, or a pool that one customer moves about in. */
const IPV4_NETWORK_BITS = 24;
/** Of IPv6, what one site is given at the most (RFC 6177): one customer has that many addresses and /64 networks for nothing. */
const IPV6_NETWORK_BITS = 48;

/** Of a connection that is gone. */
const UNKNOWN = ipaddr.IPv4.parse('0.0.0.0');

/**
 * The address of the client, in the one spelling that it has: some proxies say it with its port (`192.0.2.1:4711`, `[2001:db8::1]:443`),
 * and IPv6 has many ways to write one. What is no address counts as the proxy's own.
 */
export function clientAddress({ ip, socket }: Pick<Request, 'ip' | 'socket'>): string {
  return (read(ip) ?? read(socket.remoteAddress) ?? UNKNOWN).toString();
}

/** The network of an address that `clientAddress` gave, as `192.0.2.0/24` or `2001:db8::/48`: what one customer of a provider has at the most. */
export function networkOf(address: string): string {
  const [family, bits] = address.includes(':')
    ? [ipaddr.IPv6, IPV6_NETWORK_BITS]
    : [ipaddr.IPv4, IPV4_NETWORK_BITS];
  return `${family.networkAddressFromCIDR(`${address}/${bits}`).toString()}/${bits}`;
}

/** In brackets, IPv6 may have a port; IPv4 may have one without. */
const WITH_PORT = /^(?:\[(?<ipv6>[^\]]*)\](?::\d+)?|(?<ipv4>[\d.]+):\d+)$/;

function read(text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const { ipv6, ipv4 } = WITH_PORT.exec(text ?? '')?.groups ?? {};
  // Without the zone of a link-local address, which means something on one machine only.
  const bare = (ipv6 ?? ipv4 ?? text ?? '').split('%', 1)[0] ?? '';
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return null;
  return ipaddr.process(bare);
}
