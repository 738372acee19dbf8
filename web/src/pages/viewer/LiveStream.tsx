// What happens, the moment it happens. While it is paused, or while somebody reads further down, new events wait behind
// "n new" instead of moving the list.
import { Button } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState, type UIEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { NewRows } from '@/parts/NewRows';
import { Empty, Panel } from '@/parts/Panel';
import { VirtualRows } from '@/parts/VirtualRows';
import { feed, useFeed, type FeedRow } from './feed';
import { FilterChoice, FilterProject } from './Filters';
import { LiveRow } from './LiveRow';
import { EVENTS, type TabProps } from './state';
import classes from './LiveStream.module.css';

type Props = TabProps & { paused: boolean; onPause: (paused: boolean) => void };

export function LiveStream({ state, set, paused, onPause }: Props) {
  const { t } = useTranslation(['viewer', 'common']);
  const navigate = useNavigate();
  const { rows, waiting } = useFeed();
  const [reading, setReading] = useState(false); // further down in the list
  const box = useRef<HTMLDivElement>(null);
  const { event, project } = state;
  useEffect(() => feed.hold(paused || reading), [paused, reading]);

  const shown = useMemo(() => rows.filter((row) => wanted(row, event, project)), [rows, event, project]);
  const fresh = useMemo(
    () => waiting.filter((row) => row.name !== 'queue.depth' && wanted(row, event, project)).length,
    [waiting, event, project],
  );

  function show() {
    feed.flush();
    box.current?.querySelector('[role=grid]')?.scrollTo({ top: 0 });
  }

  function open({ name, payload }: FeedRow) {
    const session = payload['sessionDbId'];
    if (name === 'queue.failed')
      set({ tab: 'failures', ...(typeof payload['id'] === 'number' ? { sel: payload['id'] } : {}) });
    else if (typeof session === 'number') void navigate({ to: '/ui/sessions/$id', params: { id: String(session) } });
  }

  return (
    <Panel
      title={t('stream.title')}
      flush
      actions={
        <>
          <NewRows count={fresh} onShow={show} />
          <FilterChoice
            label={t('stream.type')}
            bare
            width={120}
            all={t('stream.all')}
            options={EVENTS.map((value) => ({ value, label: t(`stream.names.${value}`) }))}
            value={event}
            onChange={(chosen) => set({ event: EVENTS.find((each) => each === chosen) ?? '' })}
          />
          <FilterProject state={state} set={set} bare />
          <Button
            variant="default"
            aria-pressed={paused}
            leftSection={paused ? <IconPlayerPlay size={14} /> : <IconPlayerPause size={14} />}
            onClick={() => onPause(!paused)}
          >
            {paused ? t('stream.resume') : t('stream.pause')}
          </Button>
        </>
      }
    >
      {paused && (
        <p className={classes['paused']} role="status">
          {t('stream.paused')}
        </p>
      )}
      <div
        ref={box}
        onScrollCapture={({ target }: UIEvent) => setReading(target instanceof HTMLElement && target.scrollTop > 4)}
      >
        {shown.length ? (
          <VirtualRows
            rows={shown}
            keyOf={(row) => row.key}
            render={(row) => <LiveRow row={row} />}
            label={t('stream.label')}
            rowHeight={32}
            height={`clamp(224px, ${shown.length * 32}px, 400px)`}
            onOpen={open}
          />
        ) : (
          <Empty title={event || project ? t('stream.filtered') : t('stream.empty')} why={t('stream.emptyWhy')} />
        )}
      </div>
    </Panel>
  );
}

function wanted({ name, payload }: FeedRow, event: string, project: string): boolean {
  if (event && name !== event) return false;
  return !project || payload['project'] === project;
}
