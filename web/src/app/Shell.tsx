// The frame around every page: header, navigation, palette and keys.
import { ActionIcon, Burger, Button, Kbd, Skeleton, VisuallyHidden } from '@mantine/core';
import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { IconLanguage, IconMoon, IconSearch, IconSun } from '@tabler/icons-react';
import { Outlet, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { memoryTexts } from '@/i18n';
import { useLiveState } from '@/live/useLive';
import { NAV_PAGES } from './pages';
import { prefer } from './preferences';
import classes from './Shell.module.css';
import { useShortcuts } from './useShortcuts';
import { Sidebar } from './Sidebar';
import markUrl from '../mark.svg';

const Palette = lazy(async () => {
  const [module] = await Promise.all([import('./Palette'), memoryTexts()]);
  return { default: module.Palette };
});
const Shortcuts = lazy(() => import('./Shortcuts').then((module) => ({ default: module.Shortcuts })));

const MAC = /Mac|iPhone|iPad/.test(navigator.platform);

export function Shell() {
  const { t, i18n } = useTranslation('shell');
  const navigate = useNavigate();
  const [menu, setMenu] = useState(false);
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme('light') === 'dark';

  const themeName = dark ? t('theme.toLight') : t('theme.toDark');
  const toggleTheme = () => setColorScheme(dark ? 'light' : 'dark');
  const toggleLanguage = () => prefer({ language: i18n.language === 'zh' ? 'en' : 'zh' });

  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setPalette((before) => !before);
      }
    };
    addEventListener('keydown', open);
    return () => removeEventListener('keydown', open);
  }, []);
  useShortcuts([
    { keys: '/', label: t('shortcuts.focusSearch'), group: 'everywhere', run: () => setPalette(true) },
    { keys: '?', label: t('shortcuts.help'), group: 'everywhere', run: () => setHelp(true) },
    ...NAV_PAGES.map(({ name, to, key }) => ({
      keys: `g ${key}`,
      label: t('shortcuts.go', { page: t(`nav.${name}`) }),
      group: 'everywhere' as const,
      run: () => void navigate({ to }),
    })),
  ]);

  return (
    <div className={classes['frame']}>
      <a href="#content" className={classes['skip']}>
        {t('skip')}
      </a>
      <header className={classes['header']}>
        <div className={classes['brand']}>
          <Burger opened={menu} onClick={() => setMenu(!menu)} hiddenFrom="sm" size="sm" aria-label={t('menu')} />
          <img src={markUrl} alt="" width={22} height={22} />
          <span className={classes['name']}>codexmem</span>
        </div>
        <Button
          className={classes['search']}
          variant="default"
          leftSection={<IconSearch size={14} aria-hidden />}
          rightSection={
            <Kbd size="xs" aria-hidden>
              {MAC ? '⌘K' : 'Ctrl K'}
            </Kbd>
          }
          justify="space-between"
          onClick={() => setPalette(true)}
        >
          {t('search')}
        </Button>
        <div className={classes['tools']}>
          <LiveBadge />
          <Button
            className={classes['language']}
            variant="subtle"
            color="slate"
            leftSection={<IconLanguage size={16} aria-hidden />}
            onClick={toggleLanguage}
            aria-label={t('language.toOther')}
            title={t('language.toOther')}
          >
            {t('language.other')}
          </Button>
          <ActionIcon aria-label={themeName} title={themeName} onClick={toggleTheme}>
            {dark ? <IconSun size={16} /> : <IconMoon size={16} />}
          </ActionIcon>
        </div>
      </header>
      <div className={classes['navbar']} data-menu={menu || undefined}>
        <Sidebar onChosen={() => setMenu(false)} />
      </div>
      <main id="content" tabIndex={-1} className={classes['main']}>
        <Suspense fallback={<Waiting />}>
          <Outlet />
        </Suspense>
      </main>
      <Suspense>
        {palette && (
          <Palette
            onClose={() => setPalette(false)}
            actions={[
              { id: 'batch', label: t('palette.newBatch'), run: () => void navigate({ to: '/ui/batches/new' }) },
              { id: 'theme', label: t('palette.toggleTheme'), run: toggleTheme },
              { id: 'language', label: t('palette.toggleLanguage'), run: toggleLanguage },
              { id: 'help', label: t('palette.help'), run: () => setHelp(true) },
            ]}
          />
        )}
        {help && <Shortcuts onClose={() => setHelp(false)} />}
      </Suspense>
    </div>
  );
}

function Waiting() {
  const { t } = useTranslation();
  return (
    <div role="status">
      <VisuallyHidden>{t('loading')}</VisuallyHidden>
      <Skeleton h={28} w={220} mb={24} />
      <Skeleton h={320} />
    </div>
  );
}

/** Whether what is shown keeps up with the server. */
function LiveBadge() {
  const { t } = useTranslation('shell');
  const state = useLiveState();
  return (
    <span className={classes['live']} data-state={state} role="status" title={t(`live.${state}Hint`)}>
      <span className={classes['dot']} aria-hidden />
      <span className={classes['word']}>{t(`live.${state}`)}</span>
    </span>
  );
}
