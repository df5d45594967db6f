import type { NextConfig } from 'next';

const config: NextConfig = {
  // Load the SDK on the server as a package, without bundling it.
  serverExternalPackages: ['@onecode/client'],
  poweredByHeader: false,
  // Otherwise Next.js uses a lockfile in a parent folder.
  turbopack: { root: import.meta.dirname },
};

export default config;
