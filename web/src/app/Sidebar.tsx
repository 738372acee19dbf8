// The navigation, by group, and how much waits for a decision on which page.
import { VisuallyHidden } from '@mantine/core';
import { IconBookmark } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { labUsedQuery } from '@/api/lab';
import { inReview, waitingQuery } from '@/api/review';
import { NAV_GROUPS, NAV_PAGES } from './pages';
import { usePreferences } from './preferences';
import { useCurrentView } from './views';
import classes from './Shell.module.css';

// Which page an address belongs to is said by the list of pages.
const EXACT = { exact: true, includeSearch: false } as const;

export function Sidebar({ onChosen }: { onChosen: () => void }) {
  const { t } = useTranslation('shell');
  const { pathname } = useLocation();
  const counts = useQuery(waitingQuery).data;
  const waiting: Partial<Record<string, number>> = counts ? { review: inReview(counts), qa: counts.qa_candidates } : {};
  const lab = NAV_PAGES.some(({ group, owns }) => group === 'lab' && owns.test(pathname));
  const used = useQuery({ ...labUsedQuery, enabled: !lab }).data;
  const groups = NAV_GROUPS.filter((group) => group !== 'lab' || lab || used);
  return (
    <nav aria-label={t('nav.label')} className={classes['nav']}>
      {groups.map((group) => (
        <div key={group}>
          <div className={classes['group']} id={`nav-${group}`}>
            {t(`group.${group}`)}
          </div>
          <ul aria-labelledby={`nav-${group}`} className="plain">
            {NAV_PAGES.filter((page) => page.group === group).map(({ name, to, icon: Icon, owns }) => (
              <li key={name}>
                <Link
                  to={to}
                  activeOptions={EXACT}
                  className={classes['link']}
                  aria-current={owns.test(pathname) ? 'page' : undefined}
                  onClick={onChosen}
                >
                  <Icon size={16} stroke={1.7} aria-hidden />
                  <span>{t(`nav.${name}`)}</span>
                  <Waiting count={waiting[name] ?? 0} most={counts?.most ?? 0} />
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <Views onChosen={onChosen} />
    </nav>
  );
}

/** What was saved under a name of its own. */
function Views({ onChosen }: { onChosen: () => void }) {
  const { t } = useTranslation();
  const { views } = usePreferences();
  const { here } = useCurrentView();
  if (!views.length) return null;
  return (
    <div>
      <div className={classes['group']} id="nav-views">
        {t('views.title')}
      </div>
      <ul aria-labelledby="nav-views" className="plain">
        {views.map(({ name, to }) => {
          const [path = '', query = ''] = to.split('?');
          return (
            <li key={to}>
              <Link
                to={path}
                search={Object.fromEntries(new URLSearchParams(query)) as never}
                className={classes['link']}
                activeOptions={{ exact: true }}
                aria-current={to === here ? 'page' : undefined}
                onClick={onChosen}
              >
                <IconBookmark size={16} stroke={1.7} aria-hidden />
                <span>{name}</span>
              </Link>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function Waiting({ count, most }: { count: number; most: number }) {
  const { t, i18n } = useTranslation('shell');
  if (!count) return null;
  const number = count.toLocaleString(localeTag(i18n.language));
  return (
    <span className={classes['waiting']}>
      <span aria-hidden>{count >= most ? `${number}+` : number}</span>
      <VisuallyHidden>{t('waiting', { count })}</VisuallyHidden>
    </span>
  );
}
