// Mounts the application.
import './app/trusted';
import './app/styles';
import { MantineProvider, localStorageColorSchemeManager } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/queries';
import { KeyGate } from './app/KeyGate';
import { Notices } from './app/Notices';
import { router } from './app/router';
import { theme, variables } from './app/theme';
import { styleNonce } from './app/trusted';
import { startTexts } from './i18n';

const colorScheme = localStorageColorSchemeManager({ key: 'codexmem-theme' });
const root = document.getElementById('root');
if (!root) throw new Error('the page has no root');

const texts = startTexts();
// The page of this address comes beside the texts; if it does not, the router tells when it shows it.
void router.load();
await texts;
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={colorScheme}
      cssVariablesResolver={variables}
      getStyleNonce={() => styleNonce}
    >
      <QueryClientProvider client={queryClient}>
        <Notices />
        <KeyGate>
          <RouterProvider router={router} />
        </KeyGate>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
