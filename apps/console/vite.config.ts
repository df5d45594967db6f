import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The web application: built into `dist/web`, which the console's server serves. */
export default defineConfig({
  root: new URL('web', import.meta.url).pathname,
  plugins: [react()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    // An inlined file would be a `data:` address, which the content security policy allows for pictures only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The licences of what is bundled, which ask to be given with it.
    license: { fileName: 'licenses.md' },
    chunkSizeWarningLimit: 900,
  },
});
