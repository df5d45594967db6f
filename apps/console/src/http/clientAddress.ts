import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/** The smallest IPv4 network that providers announce: one customer, or the pool from which one customer gets changing addresses. */
const IPV4_NETWORK_BITS = 24;
/** The largest IPv6 network that one site gets (RFC 6177): one customer can use all its addresses and /64 networks at no cost. */
const IPV6_NETWORK_BITS = 48;

/** Replaces the address of a closed connection. */
const UNKNOWN = ipaddr.IPv4.parse('0.0.0.0');

/**
 * Returns the client's address in canonical form. Some proxies add the port (`192.0.2.1:4711`, `[2001:db8::1]:443`), and IPv6 has many
 * spellings of one address. If the proxy's header contains no address, returns the address of the connection.
 */
export function clientAddress({ ip, socket }: Pick<Request, 'ip' | 'socket'>): string {
  return (parse(ip) ?? parse(socket.remoteAddress) ?? UNKNOWN).toString();
}

/**
 * Returns the network of an address from `clientAddress`, such as `192.0.2.0/24` or `2001:db8::/48`: the largest network that one customer
 * may have.
 */
export function networkOf(address: string): string {
  const [family, bits] = address.includes(':')
    ? [ipaddr.IPv6, IPV6_NETWORK_BITS]
    : [ipaddr.IPv4, IPV4_NETWORK_BITS];
  return `${family.networkAddressFromCIDR(`${address}/${bits}`).toString()}/${bits}`;
}

/** An address with a port; IPv6 needs brackets for one. */
const WITH_PORT = /^(?:\[(?<ipv6>[^\]]*)\](?::\d+)?|(?<ipv4>[\d.]+):\d+)$/;

function parse(text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const { ipv6, ipv4 } = WITH_PORT.exec(text ?? '')?.groups ?? {};
  // The zone of a link-local address (`%eth0`) has a meaning on one machine only.
  const bare = (ipv6 ?? ipv4 ?? text ?? '').split('%', 1)[0] ?? '';
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return null;
  return ipaddr.process(bare);
}
