// Whether the logs that arrived are whole: each row names the one before it, and the server checks that.
import { Alert, Button, Group } from '@mantine/core';
import { IconLink, IconLinkOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { CommandLine } from '@/parts/CommandLine';
import classes from './Audit.module.css';
import { useDamage, type Damage } from './queries';

export function ChainState({ onShow }: { onShow: (damage: Damage) => void }) {
  const { t, i18n } = useTranslation('qa');
  const broken = useDamage('broken').data;
  const forked = useDamage('forked').data;
  const unknown = useDamage('unknown').data;
  if (!broken || !forked || !unknown) return null;
  const looked = [broken, forked, unknown];
  if (looked.every(({ scanned }) => scanned === 0)) return null;
  const bad = broken.items[0] ?? forked.items[0];
  const gap = unknown.items[0];
  const number = Math.max(...looked.map(({ scanned }) => scanned)).toLocaleString(localeTag(i18n.language));
  const sound = looked.some(({ truncated }) => truncated) ? t('chain.soundSome', { number }) : t('chain.sound');
  const show = (damage: Damage, there: boolean) =>
    there && (
      <Button variant="default" size="compact-xs" onClick={() => onShow(damage)}>
        {t(`chain.show.${damage}`)}
      </Button>
    );
  const buttons = (
    <>
      {show('broken', broken.items.length > 0)}
      {show('forked', forked.items.length > 0)}
      {show('unknown', gap !== undefined)}
    </>
  );
  if (bad) {
    const title = t('chain.bad', { seq: bad.seq, log: bad.log.slice(0, 8) });
    return (
      <Alert color="red" icon={<IconLinkOff size={18} />} title={title} role="alert">
        <Group gap="sm">
          {buttons}
          <Seal />
        </Group>
      </Alert>
    );
  }
  return (
    <div className={classes['sound']} role="status" data-gap={gap ? true : undefined}>
      {gap ? <IconLinkOff size={16} aria-hidden /> : <IconLink size={16} aria-hidden />}
      <span>{gap ? t('chain.gap', { seq: gap.seq, log: gap.log.slice(0, 8) }) : sound}</span>
      {buttons}
      <Seal />
    </div>
  );
}

function Seal() {
  const { t } = useTranslation('qa');
  return (
    <span className={classes['seal']}>
      <span>{t('chain.seal')}</span>
      <CommandLine command="mem-codecli audit verify" />
    </span>
  );
}
