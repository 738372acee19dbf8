// One session, turn by turn.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { IconArrowBackUp } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { usePreferences } from '@/app/preferences';
import { useMemoriesChanged } from '@/api/life';
import { BringBack } from '@/parts/acts/BringBack';
import { ForgetDialog } from '@/parts/acts/ForgetDialog';
import { UndoDialog } from '@/parts/acts/UndoDialog';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { TextLink } from '@/parts/TextLink';
import { exactTime } from '@/parts/TimeText';
import { session as askSession } from './queries';
import { SessionAbout } from './SessionAbout';
import { isUndone } from './sessionItems';
import { SessionTurns } from './SessionTurns';

export function SessionPage() {
  const { t, i18n } = useTranslation('timeline');
  const { clock } = usePreferences();
  const { id = '' } = useParams({ strict: false });
  const number = Number(id);
  const query = useQuery({
    queryKey: ['timeline', 'session', number],
    queryFn: ({ signal }) => askSession(number, signal),
  });
  const [asked, setAsked] = useState<'undo' | 'bringBack' | 'forget' | null>(null);
  const navigate = useNavigate();
  const changed = useMemoriesChanged();
  const name = t('sessionPage.name', { number: id });
  const session = query.data;
  if (!session) {
    return (
      <Page title={name}>
        <Panel label={name} state={query}>
          {null}
        </Panel>
      </Page>
    );
  }
  const undone = session.undone[0];
  const when = session.undone_ms === null ? '' : exactTime(session.undone_ms, i18n.language, clock);
  return (
    <Page
      title={session.title || t(session.hidden ? 'sessionPage.hiddenTitle' : 'sessionPage.untitled', { number: id })}
      description={<TextLink to="/ui/sessions">{t('sessionPage.back')}</TextLink>}
      actions={
        <>
          {undone && <Button onClick={() => setAsked('bringBack')}>{t('undo.bringBack')}</Button>}
          {!(undone && isUndone(session)) && (
            <Button variant="default" leftSection={<IconArrowBackUp size={14} />} onClick={() => setAsked('undo')}>
              {t('undo.sessionOpen')}
            </Button>
          )}
          <Button variant="default" onClick={() => setAsked('forget')}>
            {t('forget.open')}
          </Button>
        </>
      }
    >
      {undone && <BringBack text={t('sessionPage.undone', { count: session.hidden, when })} delta={null} />}
      <SessionAbout session={session} />
      <SessionTurns key={number} session={session} />
      {undone && (
        <UndoDialog
          opened={asked === 'bringBack'}
          onClose={() => setAsked(null)}
          whose={{ delta: undone }}
          bringsBack
        />
      )}
      <UndoDialog
        opened={asked === 'undo'}
        onClose={() => setAsked(null)}
        whose={{ source: session.source }}
        title={t('undo.session')}
      />
      <ForgetDialog
        opened={asked === 'forget'}
        onClose={() => setAsked(null)}
        what={{ sessionDbId: number }}
        name={session.source}
        onForgotten={() => {
          void navigate({ to: '/ui/sessions', replace: true }).then(changed);
        }}
      />
    </Page>
  );
}
