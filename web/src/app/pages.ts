// The pages of the navigation, in its order; the palette and the shortcuts use the same list.
import {
  IconActivityHeartbeat,
  IconBook2,
  IconBooks,
  IconBulb,
  IconChecklist,
  IconClipboardCheck,
  IconFileText,
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
  { name: 'brief', to: '/ui', group: 'see', icon: IconFileText, owns: /^\/ui(\/p\/|\/?$)/, key: 'h' },
  {
    name: 'memories',
    to: '/ui/memories',
    group: 'see',
    icon: IconTimeline,
    owns: /^\/ui\/(memories|timeline|observations|m\/)/,
    key: 'm',
  },
  { name: 'sessions', to: '/ui/sessions', group: 'see', icon: IconMessages, owns: /^\/ui\/sessions/, key: 'e' },
  { name: 'notes', to: '/ui/notes', group: 'memory', icon: IconBook2, owns: /^\/ui\/notes/, key: 'n' },
  { name: 'review', to: '/ui/review', group: 'memory', icon: IconClipboardCheck, owns: /^\/ui\/review/, key: 'i' },
  { name: 'qa', to: '/ui/qa', group: 'memory', icon: IconChecklist, owns: /^\/ui\/qa/, key: 'q' },
  { name: 'knowledge', to: '/ui/kb', group: 'memory', icon: IconBooks, owns: /^\/ui\/kb/, key: 'k' },
  { name: 'batches', to: '/ui/batches', group: 'lab', icon: IconFlask, owns: /^\/ui\/(batches|runs)/, key: 'r' },
  { name: 'bank', to: '/ui/rb', group: 'lab', icon: IconBulb, owns: /^\/ui\/rb/, key: 'b' },
  { name: 'catalog', to: '/ui/catalog/products', group: 'lab', icon: IconPackage, owns: /^\/ui\/catalog/, key: 'c' },
  { name: 'viewer', to: '/viewer', group: 'system', icon: IconActivityHeartbeat, owns: /^\/viewer/, key: 'v' },
  { name: 'system', to: '/ui/system', group: 'system', icon: IconServerCog, owns: /^\/ui\/system/, key: 's' },
  { name: 'audit', to: '/ui/audit', group: 'system', icon: IconShieldCheck, owns: /^\/ui\/audit/, key: 'a' },
  { name: 'settings', to: '/ui/settings', group: 'system', icon: IconSettings, owns: /^\/ui\/settings/, key: ',' },
];

/** The lab last: it is shown once there is something in it, and nothing below it has to move then. */
export const NAV_GROUPS: readonly NavGroup[] = ['see', 'memory', 'system', 'lab'];
