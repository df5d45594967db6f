import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type HtmlTagDescriptor, type Plugin } from 'vite';

/** The web application: built into `dist/web`, which the console's server serves. */
export default defineConfig({
  root: fileURLToPath(new URL('web', import.meta.url)),
  plugins: [react(), preload(), compress()],
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
        // A file costs a slow connection a part of a second: one for the sign-in page, one for the
        // frame of the others with the page that opens first, one for what they share, and one for each page.
        codeSplitting: {
          groups: [
            { name: 'start', tags: ['$initial'], priority: 2 },
            { name: 'shell', test: /\/web\/src\/(?:app\/(?:home|shell)|features\/overview\/)/, priority: 1 },
            { name: 'shared', minShareCount: 2 },
          ],
        },
      },
    },
  },
});

/**
 * The page asks at once for the font, and not only after the style sheet that names it. Links with `data-signed-in`, to what every page
 * but the sign-in page needs, are left out by the server for those who have not signed in.
 */
function preload(): Plugin {
  return {
    name: 'preload',
    transformIndexHtml: (_page, { bundle = {} }) =>
      Object.keys(bundle).flatMap((file) => {
        const link = (attrs: Record<string, string>): HtmlTagDescriptor[] => [
          { tag: 'link', attrs: { href: `/${file}`, ...attrs } },
        ];
        if (file.endsWith('.woff2'))
          return link({ rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: '' });
        return /\/(?:shared|shell)-.*\.js$/.test(file)
          ? link({ rel: 'modulepreload', 'data-signed-in': '' })
          : [];
      }),
  };
}

/** Writes a compressed copy of each script and style sheet next to it, which the server sends. */
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
