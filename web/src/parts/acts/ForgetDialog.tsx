// Forgetting for good: shows what would go and what else carries its text, and its name must be typed.
import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/api/client';
import { forgetting, type Forgettable } from '@/api/life';
import { localeTag } from '@/i18n';
import { notify } from '../undoable';
import { Elsewhere, Impact, ImpactDialog } from './ImpactDialog';

type Props = {
  opened: boolean;
  onClose: () => void;
  what: Forgettable;
  /** How what goes is called, and what must be typed: #12. */
  name: string;
  /** How many go, where a selection does: then the name is only what must be typed. */
  many?: number;
  /** Whether more went than what was named: whatever stood beside it may be gone too. */
  onForgotten: (followed: boolean) => void;
};

export function ForgetDialog({ what, name, many, onForgotten, ...rest }: Props) {
  const { t, i18n } = useTranslation('timeline');
  const [follow, setFollow] = useState(false);
  async function forget() {
    const { erased, trail } = await forgetting(what, { preview: false, follow });
    notify(t('forget.done', { count: erased + (trail?.quoting ?? 0) }));
    onForgotten(follow);
  }
  const session = 'sessionDbId' in what ? what.sessionDbId : null;
  const one = many === undefined ? t('forget.title', { what: name }) : t('forget.manyTitle', { count: many });
  const title = session === null ? one : t('forget.sessionTitle', { number: session });
  return (
    <ImpactDialog
      {...rest}
      title={title}
      asked={{ key: ['forget', what], ask: () => forgetting(what, { preview: true, follow: true }) }}
      action={t('forget.action')}
      danger
      confirmText={name}
      onConfirm={forget}
    >
      {({ found, more, first, kept, trail }) => {
        const count = found ?? 0;
        const number = count.toLocaleString(localeTag(i18n.language));
        const goes = more ? t('forget.goesMore', { number }) : t('forget.goes', { count });
        return (
          <Stack gap="sm">
            <Text size="sm">{count ? goes : t('forget.nothing')}</Text>
            {session !== null && <Text size="sm">{t('forget.sessionGoes')}</Text>}
            <Impact label={t('forget.first')} touched={first ?? []} />
            {!!kept?.length && <Impact label={t('forget.kept')} touched={kept} />}
            {trail && <Trail trail={trail} follow={follow} onFollow={setFollow} />}
          </Stack>
        );
      }}
    </ImpactDialog>
  );
}

type TrailProps = { trail: Schemas['ForgetTrail']; follow: boolean; onFollow: (follow: boolean) => void };

/** What carries its text elsewhere, and goes too if that is wanted; backups stay as they are. */
function Trail({ trail, follow, onFollow }: TrailProps) {
  const { t } = useTranslation('timeline');
  const { quoting, first_quoting: first, backups } = trail;
  const traces = trail.events + trail.captured + trail.spooled;
  return (
    <>
      <Elsewhere
        label={t('forget.follow')}
        count={quoting}
        traces={traces}
        first={first}
        follow={follow}
        onFollow={onFollow}
      />
      {backups.length > 0 && (
        <Text size="sm">{t('forget.backups', { names: backups.map(({ name }) => name).join(', ') })}</Text>
      )}
    </>
  );
}
