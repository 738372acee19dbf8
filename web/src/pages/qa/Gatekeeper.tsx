// What the gatekeeper's rules say of the text as it stands.
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import { VisuallyHidden } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './Qa.module.css';
import type { QaDetail } from './queries';

export function Gatekeeper({ item }: { item: QaDetail }) {
  const { t, i18n } = useTranslation('qa');
  const { mode, rules } = item.gatekeeper;
  return (
    <section className={classes['box']}>
      <h3>{t('gate.title')}</h3>
      <ul className={classes['rules']}>
        {rules.map((rule) => (
          <li key={rule.name} data-passed={rule.passed}>
            {rule.passed ? <IconCircleCheck size={16} aria-hidden /> : <IconCircleX size={16} aria-hidden />}
            <span>
              <strong>{t(`gate.${rule.name}`)}</strong>{' '}
              <VisuallyHidden>{rule.passed ? t('gate.passed') : t('gate.broken')}</VisuallyHidden>
              <span className={classes['why']}>{i18n.language === 'zh' ? rule.why_zh : rule.why}</span>
            </span>
          </li>
        ))}
      </ul>
      <p className={classes['why']}>{mode ? t('gate.mode', { mode }) : t('gate.noMode')}</p>
    </section>
  );
}
