// The pages of the navigation, in its order; the palette and the shortcuts use the same list.
import {
  IconActivityHeartbeat,
  IconBook2,
  IconBulb,
  IconChecklist,
  IconFlask,
  IconMessages,
  IconPackage,
  IconServerCog,
  IconSettings,
  IconShieldCheck,
  IconTimeline,
} from '@tabler/icons-react';
import type shell from '@/i18n/en/shell';

export type NavName = Exclude<keyof typeof shell.nav, 'label'>;
export type NavGroup = keyof typeof shell.group;
export type NavPage = {
  name: NavName;
  to: string;
  group: NavGroup;
  icon: typeof IconBook2;
  /** Which addresses belong to it. */
  owns: RegExp;
  /** The key that goes there after g. */
  key: string;
};

export const NAV_PAGES: readonly NavPage[] = [
  { name: 'viewer', to: '/viewer', group: 'see', icon: IconActivityHeartbeat, owns: /^\/viewer/, key: 'v' },
  {
    name: 'timeline',
    to: '/ui/timeline',
    group: 'see',
    icon: IconTimeline,
    owns: /^\/ui\/(timeline|observations)/,
    key: 't',
  },
  { name: 'sessions', to: '/ui/sessions', group: 'see', icon: IconMessages, owns: /^\/ui\/sessions/, key: 'e' },
  { name: 'memories', to: '/ui/memories', group: 'memory', icon: IconBook2, owns: /^\/ui\/(memories|m\/)/, key: 'm' },
  { name: 'qa', to: '/ui/qa', group: 'memory', icon: IconChecklist, owns: /^\/ui\/qa/, key: 'q' },
  { name: 'batches', to: '/ui/batches', group: 'lab', icon: IconFlask, owns: /^\/ui\/(batches|runs)/, key: 'r' },
  { name: 'bank', to: '/ui/rb', group: 'lab', icon: IconBulb, owns: /^\/ui\/rb/, key: 'b' },
  { name: 'catalog', to: '/ui/catalog/products', group: 'lab', icon: IconPackage, owns: /^\/ui\/catalog/, key: 'c' },
  { name: 'system', to: '/ui/system', group: 'system', icon: IconServerCog, owns: /^\/ui\/system/, key: 's' },
  { name: 'audit', to: '/ui/audit', group: 'system', icon: IconShieldCheck, owns: /^\/ui\/audit/, key: 'a' },
  { name: 'settings', to: '/ui/settings', group: 'system', icon: IconSettings, owns: /^\/ui\/settings/, key: ',' },
];

export const NAV_GROUPS: readonly NavGroup[] = ['see', 'memory', 'lab', 'system'];
