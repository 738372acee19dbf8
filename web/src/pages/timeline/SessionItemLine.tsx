// One line of a session: a turn, what was handed over, its folded tool events, one event, or what came of them.
import { ActionIcon } from '@mantine/core';
import { IconChevronDown, IconChevronRight, IconInbox, IconPlayerStop, IconTool } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { durationText } from '@/parts/amounts';
import { KindMark } from '@/parts/KindMark';
import type { SessionEvent, Turn } from './queries';
import { toolCounts, type SessionItem } from './sessionItems';
import { plainLine, restOf } from '@/parts/snippet';
import classes from './Session.module.css';

const TOOLS = 4; // named on a folded line

export function SessionItemLine({ item, onToggle }: { item: SessionItem; onToggle: (turn: Turn) => void }) {
  const { t, i18n } = useTranslation('timeline');
  switch (item.kind) {
    case 'turn': {
      const { started_ms: from, ended_ms: to } = item.turn;
      return (
        <Line
          depth={0}
          icon={null}
          title={<TurnName turn={item.turn} />}
          side={from !== null && to !== null && to > from ? durationText(to - from, i18n.language) : ''}
          hidden={item.turn.prompt?.hidden}
        />
      );
    }
    case 'injected': {
      const { start, count, tokens } = item.injection;
      const title = start ? t('sessionPage.injectedStart', { count }) : t('sessionPage.injectedPrompt', { count });
      return (
        <Line
          depth={1}
          icon={<IconInbox size={15} aria-hidden />}
          title={title}
          side={t('sessionPage.tokens', { count: tokens })}
        />
      );
    }
    case 'events': {
      const { turn, open } = item;
      const tools = toolCounts(turn.events);
      const count = turn.events.filter((event) => event.kind === 'tool').length;
      const named = tools.slice(0, TOOLS).map(([tool, times]) => t('sessionPage.tool', { tool, count: times }));
      const name = open
        ? t('sessionPage.eventsHide', { turn: turn.turn })
        : t('sessionPage.eventsShow', { turn: turn.turn });
      return (
        <Line
          depth={1}
          icon={
            <ActionIcon
              size={24}
              aria-label={name}
              aria-expanded={open}
              onClick={(event) => {
                event.stopPropagation();
                onToggle(turn);
              }}
            >
              {open ? <IconChevronDown size={15} /> : <IconChevronRight size={15} />}
            </ActionIcon>
          }
          title={
            turn.continues ? t('sessionPage.eventsContinue', { number: count }) : t('sessionPage.events', { count })
          }
          rest={named.join(' · ') + (tools.length > TOOLS ? ' …' : '')}
        />
      );
    }
    case 'event':
      return <EventLine event={item.event} />;
    case 'memory': {
      const { memory } = item;
      return (
        <Line
          depth={1}
          icon={<KindMark kind={memory.kind} bare />}
          title={plainLine(memory.title)}
          rest={restOf(memory.title, memory.snippet)}
          hidden={memory.hidden}
        />
      );
    }
  }
}

export function TurnName({ turn }: { turn: Turn }) {
  const { t } = useTranslation('timeline');
  if (turn.turn === 0) return t('sessionPage.before');
  const asked = turn.prompt?.private ? t('sessionPage.private') : turn.prompt?.text;
  return (
    <>
      <span className={classes['turn']}>{t('sessionPage.turn', { turn: turn.turn })}</span>
      <span dir="auto">{asked ?? t('sessionPage.noPrompt')}</span>
    </>
  );
}

function EventLine({ event }: { event: SessionEvent }) {
  const { t } = useTranslation('timeline');
  const stop = event.kind === 'stop';
  const Icon = stop ? IconPlayerStop : IconTool;
  const said = stop ? event.message : event.input;
  return (
    <Line
      depth={2}
      icon={<Icon size={14} aria-hidden />}
      title={stop ? t('sessionPage.stop') : event.tool}
      rest={event.kept ? (said ?? '') : '—'}
    />
  );
}

type LineProps = {
  depth: 0 | 1 | 2;
  icon: ReactNode;
  title: ReactNode;
  rest?: string;
  side?: string;
  /** Undone or deleted. */
  hidden?: boolean | undefined;
};

function Line({ depth, icon, title, rest = '', side = '', hidden = false }: LineProps) {
  const { t } = useTranslation('timeline');
  const beside = [hidden ? t('sessionPage.hiddenMark') : '', side].filter(Boolean);
  return (
    <div className={classes['item']} data-depth={depth} data-hidden={hidden || undefined}>
      <span className={classes['icon']}>{icon}</span>
      <span className={classes['itemWords']}>
        <span className={classes['itemTitle']} dir="auto">
          {title}
        </span>
        {rest && (
          <span className={classes['itemRest']} dir="auto">
            {rest}
          </span>
        )}
      </span>
      {beside.length > 0 && <span className="muted size12 nowrap">{beside.join(' · ')}</span>}
    </div>
  );
}
