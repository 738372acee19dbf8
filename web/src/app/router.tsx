// Every address of the application and the page that answers it; pages are loaded when they are first shown.
import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { activityTexts, allTexts, memoryTexts } from '@/i18n';
import { pageOf } from '@/parts/reference';
import { Crashed, NotFound } from './Failures';
import { fetched } from './loading';
import { parseSearch, stringifySearch } from './searchState';
import { Shell } from './Shell';

/** A page with its texts; most pages share many of them, the first ones that people see need few. */
function withTexts<Name extends string>(
  load: () => Promise<Record<Name, () => ReactNode>>,
  name: Name,
  texts: () => Promise<void> = allTexts,
) {
  return fetched(async () => (await Promise.all([load(), texts()]))[0], name);
}

/** What `/ui/memories` once showed: notes, and where a memory comes from. */
function formerPage(search: Record<string, unknown>) {
  const { why } = search;
  if (typeof why === 'string' && why !== '1') {
    throw redirect({ to: pageOf(why) ?? '/ui/memories', search: { tab: 'lineage' } as never, replace: true });
  }
  if (['domain', 'prio', 'status', 'new'].some((name) => name in search)) {
    throw redirect({ to: '/ui/notes', search: search as never, replace: true });
  }
}

const root = createRootRoute({ component: Shell });
const getParentRoute = () => root;

function page<const Path extends string, Name extends string>(
  path: Path,
  load: () => Promise<Record<Name, () => ReactNode>>,
  name: Name,
) {
  return createRoute({ getParentRoute, path, component: withTexts(load, name) });
}

const routeTree = root.addChildren([
  createRoute({
    getParentRoute,
    path: '/viewer',
    component: withTexts(() => import('@/pages/viewer/ViewerPage'), 'ViewerPage', activityTexts),
  }),
  ...(['/ui/memories', '/ui/timeline'] as const).map((path) =>
    createRoute({
      getParentRoute,
      path,
      beforeLoad: ({ search }) => formerPage(search),
      component: withTexts(() => import('@/pages/timeline/TimelinePage'), 'TimelinePage'),
    }),
  ),
  ...(['/ui/memories/$ref', '/ui/m/$', '/ui/rb/$id'] as const).map((path) =>
    page(path, () => import('@/pages/memory/MemoryPage'), 'MemoryPage'),
  ),
  createRoute({
    getParentRoute,
    path: '/ui/observations/$ref',
    beforeLoad: ({ params, search }) => {
      throw redirect({ to: '/ui/memories/$ref', params, search: search as never, replace: true });
    },
  }),
  page('/ui/sessions', () => import('@/pages/timeline/SessionsPage'), 'SessionsPage'),
  page('/ui/sessions/$id', () => import('@/pages/timeline/SessionPage'), 'SessionPage'),
  page('/ui/m/system/$', () => import('@/pages/notes/ViewPage'), 'ViewPage'),
  page('/ui/notes', () => import('@/pages/notes/NotesPage'), 'NotesPage'),
  page('/ui/qa', () => import('@/pages/qa/QaPage'), 'QaPage'),
  page('/ui/review', () => import('@/pages/review/ReviewPage'), 'ReviewPage'),
  page('/ui/kb', () => import('@/pages/knowledge/EntriesPage'), 'EntriesPage'),
  page('/ui/kb/documents', () => import('@/pages/knowledge/DocumentsPage'), 'DocumentsPage'),
  page('/ui/kb/workspaces', () => import('@/pages/knowledge/WorkspacesPage'), 'WorkspacesPage'),
  page('/ui/batches', () => import('@/pages/lab/BatchesPage'), 'BatchesPage'),
  page('/ui/batches/new', () => import('@/pages/lab/NewBatchPage'), 'NewBatchPage'),
  page('/ui/batches/$id', () => import('@/pages/lab/BatchPage'), 'BatchPage'),
  page('/ui/runs/$id', () => import('@/pages/lab/RunPage'), 'RunPage'),
  page('/ui/rb', () => import('@/pages/bank/LessonsPage'), 'LessonsPage'),
  page('/ui/rb/jobs', () => import('@/pages/bank/JobsPage'), 'JobsPage'),
  page('/ui/rb/deltas', () => import('@/pages/bank/DeltasPage'), 'DeltasPage'),
  page('/ui/rb/deltas/$id', () => import('@/pages/bank/DeltaPage'), 'DeltaPage'),
  page('/ui/catalog/products', () => import('@/pages/catalog/ProductsPage'), 'ProductsPage'),
  page('/ui/catalog/presets', () => import('@/pages/catalog/PresetsPage'), 'PresetsPage'),
  page('/ui/system', () => import('@/pages/system/SystemPage'), 'SystemPage'),
  page('/ui/audit', () => import('@/pages/audit/AuditPage'), 'AuditPage'),
  createRoute({
    getParentRoute,
    path: '/ui/settings',
    component: fetched(() => import('@/pages/settings/SettingsPage'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/ui/p/$project',
    component: withTexts(() => import('@/pages/brief/BriefPage'), 'BriefPage', memoryTexts),
  }),
  ...(['/', '/ui'] as const).map((path) =>
    createRoute({
      getParentRoute,
      path,
      component: fetched(() => import('@/pages/brief/BriefPage'), 'Home'),
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
