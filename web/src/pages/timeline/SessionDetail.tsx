// The chosen line of a session in full.
import { useTranslation } from 'react-i18next';
import { Empty, Panel } from '@/parts/Panel';
import { EventDetail } from './EventDetail';
import { EventsDetail } from './EventsDetail';
import { InjectedDetail } from './InjectedDetail';
import { MemoryDetail } from './MemoryDetail';
import type { Turn } from './queries';
import type { SessionItem } from './sessionItems';
import { TurnDetail } from './TurnDetail';

type Props = { session: number; item: SessionItem | null; onToggle: (turn: Turn) => void };

export function SessionDetail({ session, item, onToggle }: Props) {
  const { t } = useTranslation('timeline');
  switch (item?.kind) {
    case 'turn':
      return <TurnDetail turn={item.turn} />;
    case 'injected':
      return <InjectedDetail injection={item.injection} />;
    case 'events':
      return <EventsDetail turn={item.turn} open={item.open} onToggle={onToggle} />;
    case 'event':
      return <EventDetail key={item.key} session={session} event={item.event} />;
    case 'memory':
      return <MemoryDetail key={item.key} memory={item.memory} />;
    default:
      return (
        <Panel label={t('sessionPage.detail')}>
          <Empty title={t('sessionPage.choose')} why={t('sessionPage.chooseHow')} />
        </Panel>
      );
  }
}
