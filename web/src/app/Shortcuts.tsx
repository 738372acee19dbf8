// The keys that act on the page that is shown.
import { Kbd, Modal, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';
import { usePreferences } from './preferences';
import { useListedShortcuts } from './useShortcuts';
import classes from './Shortcuts.module.css';

const GROUPS = ['here', 'lists', 'everywhere'] as const;

export function Shortcuts({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation(['shell', 'common']);
  const { singleKeys } = usePreferences();
  const listed = useListedShortcuts();
  const fixed = [
    { keys: 'Ctrl K', label: t('shortcuts.palette'), group: 'everywhere' as const },
    { keys: '↑ ↓', label: t('shortcuts.move'), group: 'lists' as const },
    { keys: 'Enter', label: t('shortcuts.open'), group: 'lists' as const },
    { keys: 'Esc', label: t('shortcuts.close'), group: 'everywhere' as const },
  ];
  const all = [...fixed, ...(singleKeys ? listed : [])];
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('shortcuts.title')}
      size="lg"
      closeButtonProps={{ 'aria-label': t('common:close') }}
    >
      {!singleKeys && (
        <Text size="sm" mb="md">
          {t('shortcuts.off')}{' '}
          <Link to="/ui/settings" onClick={onClose} className="link">
            {t('shortcuts.turnOn')}
          </Link>
        </Text>
      )}
      <div className={classes['groups']}>
        {GROUPS.map((group) => {
          const rows = all.filter((each) => (each.group ?? 'here') === group);
          if (!rows.length) return null;
          return (
            <section key={group}>
              <Title order={3}>{t(`shortcuts.${group}`)}</Title>
              <dl className={classes['rows']}>
                {rows.map(({ keys, label }) => (
                  <Fragment key={keys + label}>
                    <dt>
                      {(keys === ' ' ? [t('shortcuts.space')] : keys.split(' ')).map((key) => (
                        <Kbd key={key} size="xs">
                          {key}
                        </Kbd>
                      ))}
                    </dt>
                    <dd>{label}</dd>
                  </Fragment>
                ))}
              </dl>
            </section>
          );
        })}
      </div>
    </Modal>
  );
}
