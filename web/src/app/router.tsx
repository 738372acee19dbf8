// Every address of the application and the page that answers it; pages are loaded when they are first shown.
import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { allTexts } from '@/i18n';
import { Crashed, NotFound } from './Failures';
import { fetched } from './loading';
import { parseSearch, stringifySearch } from './searchState';
import { Shell } from './Shell';

/** A page with its texts; the viewer and the settings need only those that are there from the beginning. */
function withTexts<Name extends string>(load: () => Promise<Record<Name, () => ReactNode>>, name: Name) {
  return fetched(async () => (await Promise.all([load(), allTexts()]))[0], name);
}

const root = createRootRoute({ component: Shell });
const getParentRoute = () => root;

const routeTree = root.addChildren([
  createRoute({
    getParentRoute,
    path: '/viewer',
    component: fetched(() => import('@/pages/viewer/ViewerPage'), 'ViewerPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/timeline',
    component: withTexts(() => import('@/pages/timeline/TimelinePage'), 'TimelinePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/observations/$seq',
    component: withTexts(() => import('@/pages/timeline/ObservationPage'), 'ObservationPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/sessions',
    component: withTexts(() => import('@/pages/timeline/SessionsPage'), 'SessionsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/sessions/$id',
    component: withTexts(() => import('@/pages/timeline/SessionPage'), 'SessionPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/memories',
    component: withTexts(() => import('@/pages/notes/MemoriesPage'), 'MemoriesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/m/$',
    component: withTexts(() => import('@/pages/notes/MemoryPage'), 'MemoryPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/qa',
    component: withTexts(() => import('@/pages/qa/QaPage'), 'QaPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/batches',
    component: withTexts(() => import('@/pages/lab/BatchesPage'), 'BatchesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/batches/new',
    component: withTexts(() => import('@/pages/lab/NewBatchPage'), 'NewBatchPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/batches/$id',
    component: withTexts(() => import('@/pages/lab/BatchPage'), 'BatchPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/runs/$id',
    component: withTexts(() => import('@/pages/lab/RunPage'), 'RunPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/rb',
    component: withTexts(() => import('@/pages/bank/LessonsPage'), 'LessonsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/rb/jobs',
    component: withTexts(() => import('@/pages/bank/JobsPage'), 'JobsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/rb/deltas',
    component: withTexts(() => import('@/pages/bank/DeltasPage'), 'DeltasPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/rb/deltas/$id',
    component: withTexts(() => import('@/pages/bank/DeltaPage'), 'DeltaPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/rb/$id',
    component: withTexts(() => import('@/pages/bank/LessonPage'), 'LessonPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/catalog/products',
    component: withTexts(() => import('@/pages/catalog/ProductsPage'), 'ProductsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/catalog/presets',
    component: withTexts(() => import('@/pages/catalog/PresetsPage'), 'PresetsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/system',
    component: withTexts(() => import('@/pages/system/SystemPage'), 'SystemPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/audit',
    component: withTexts(() => import('@/pages/audit/AuditPage'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/settings',
    component: fetched(() => import('@/pages/settings/SettingsPage'), 'SettingsPage'),
  }),
  ...(['/', '/ui'] as const).map((path) =>
    createRoute({
      getParentRoute,
      path,
      beforeLoad: () => {
        throw redirect({ to: '/viewer', replace: true });
      },
    }),
  ),
  createRoute({
    getParentRoute,
    path: '/ui/catalog',
    beforeLoad: () => {
      throw redirect({ to: '/ui/catalog/products', replace: true });
    },
  }),
]);

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  trailingSlash: 'never',
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: Crashed,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
