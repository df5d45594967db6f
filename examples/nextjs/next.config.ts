import type { NextConfig } from 'next';

const config: NextConfig = {
  // The SDK stays a package of the server, loaded as it is.
  serverExternalPackages: ['@onecode/client'],
  poweredByHeader: false,
  // Otherwise a lockfile in a folder above is taken for the project's.
  turbopack: { root: import.meta.dirname },
};

export default config;
