// The tool events of a turn together: how often each tool was used.
import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Panel } from '@/parts/Panel';
import type { Turn } from './queries';
import { toolCounts } from './sessionItems';
import classes from './Session.module.css';

export function EventsDetail({ turn, open, onToggle }: { turn: Turn; open: boolean; onToggle: (turn: Turn) => void }) {
  const { t } = useTranslation('timeline');
  const count = turn.events.filter((event) => event.kind === 'tool').length;
  const name = open
    ? t('sessionPage.eventsHide', { turn: turn.turn })
    : t('sessionPage.eventsShow', { turn: turn.turn });
  return (
    <Panel
      title={t('sessionPage.events', { count })}
      actions={
        <Button variant="default" onClick={() => onToggle(turn)}>
          {name}
        </Button>
      }
    >
      <ul className={classes['tools']}>
        {toolCounts(turn.events).map(([tool, times]) => (
          <li key={tool}>{t('sessionPage.tool', { tool, count: times })}</li>
        ))}
      </ul>
    </Panel>
  );
}
