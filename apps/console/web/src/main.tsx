import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './app/app.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router/dom';
import { queryClient } from './api/queries.js';
import { firstTexts } from './app/i18n.js';
import { router } from './app/router.js';
import { theme } from './app/theme.js';

const nonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? '';
// The scroll lock of dialogs reads its nonce from here.
setNonce(nonce);

// A deployment removes the chunks that an open page has not loaded yet; a reload loads the new ones.
window.addEventListener('vite:preloadError', () => window.location.reload());

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no #root element');
await firstTexts;
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
