import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The web application: built into `dist/web`, which the console's server serves. */
export default defineConfig({
  root: new URL('web', import.meta.url).pathname,
  plugins: [react(), preloadFont(), compress()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    // An inlined file would be a `data:` address, which the content security policy allows for pictures only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The licences of what is bundled, which ask to be given with it.
    license: { fileName: 'licenses.md' },
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      output: {
        // A file costs a slow connection a part of a second: one for the sign-in page, one for what other pages share, one for each page.
        codeSplitting: {
          groups: [
            { name: 'start', tags: ['$initial'], priority: 1 },
            { name: 'shared', minShareCount: 2 },
          ],
        },
      },
    },
  },
});

/** The page asks for the font at once, and not only after the style sheet that names it. */
function preloadFont(): Plugin {
  return {
    name: 'preload-font',
    transformIndexHtml: (_page, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((file) => file.endsWith('.woff2'))
        .map((file) => ({
          tag: 'link',
          attrs: { rel: 'preload', href: `/${file}`, as: 'font', type: 'font/woff2', crossorigin: '' },
        })),
  };
}

/** Puts a compressed copy of each script and style sheet beside it, which the server sends. */
function compress(): Plugin {
  return {
    name: 'compress',
    writeBundle({ dir = '' }, bundle) {
      for (const file of Object.keys(bundle).filter((name) => /\.(?:js|css)$/.test(name))) {
        const content = readFileSync(join(dir, file));
        writeFileSync(join(dir, `${file}.br`), brotliCompressSync(content));
        writeFileSync(join(dir, `${file}.gz`), gzipSync(content, { level: 9 }));
      }
    },
  };
}
