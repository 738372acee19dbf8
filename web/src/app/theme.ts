// Mantine in our colours. Each hue has its light-theme strength at 7 and its dark-theme strength at 3, both AA on our
// grounds; Mantine's own light variants and dimmed text are not, hence the resolver.
import {
  createTheme,
  defaultVariantColorsResolver,
  type CSSVariablesResolver,
  type MantineColorsTuple,
} from '@mantine/core';

/** A hue from light to dark, in ten shades. */
function shades(written: string): MantineColorsTuple {
  return written.split(' ') as unknown as MantineColorsTuple;
}

const brand = shades('#EEF0FD #DDE2FB #BCC6F7 #9DB0FF #7D90F0 #6376E4 #4C60D6 #3B4EC8 #3040A8 #263388');
const green = shades('#DAFBE1 #ACEEBB #7EE2A0 #56D364 #4AC26B #2DA44E #23923F #1A7F37 #116329 #044F1E');
const red = shades('#FFEBE9 #FFCECB #FFAAA3 #FF8B82 #FA6E64 #E5534B #CF3A2F #B42318 #9B1C12 #7A140C');
const yellow = shades('#FFF8C5 #FAE17D #EEC954 #E3B341 #D4A72C #BF8700 #A56F00 #8A5A00 #7A4E00 #5E3B00');
const blue = shades('#DDF4FF #B6E3FF #96CCFF #79B8FF #54AEFF #218BFF #0F6FCB #0B5CAD #0A4F94 #083A6E');
const slate = shades('#F6F8FA #EAEEF2 #D0D7DE #9AA4B0 #818B98 #6E7781 #636C76 #59636E #454C54 #2F353B');

// Mantine's own dark surfaces, in the tint of our grounds.
const dark = shades('#E6EAF0 #C3CAD3 #9AA4B0 #7C8794 #4A535E #3A424C #262C34 #171B21 #12161B #0F1216');

const SANS = '-apple-system,"Segoe UI","PingFang SC","Microsoft YaHei","Noto Sans SC","Noto Sans CJK SC",sans-serif';
const MONO = 'ui-monospace,"SF Mono",Consolas,"DejaVu Sans Mono","Noto Sans Mono CJK SC",monospace';

// The head of a dialog is a <header>, which would be a second banner of the page.
const HEADLESS = { header: { role: 'presentation' } };

export const theme = createTheme({
  colors: { brand, green, red, yellow, blue, slate, dark },
  primaryColor: 'brand',
  primaryShade: { light: 7, dark: 3 },
  // Mantine judges the text of a filled button by the light theme's shade alone; the dark theme's asks for dark text.
  variantColorResolver: (input) => {
    const colours = defaultVariantColorsResolver(input);
    if (input.variant !== 'filled') return colours;
    return { ...colours, color: 'light-dark(var(--mantine-color-white), var(--mantine-color-black))' };
  },
  black: '#1F2328',
  fontFamily: SANS,
  fontFamilyMonospace: MONO,
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  lineHeights: { xs: '1.5', sm: '1.5', md: '1.5', lg: '1.5', xl: '1.4' },
  headings: {
    fontFamily: SANS,
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '20px', lineHeight: '28px' },
      h2: { fontSize: '14px', lineHeight: '20px' },
      h3: { fontSize: '13px', lineHeight: '20px' },
    },
  },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  radius: { xs: '3px', sm: '4px', md: '6px', lg: '8px', xl: '12px' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'xs' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'slate', size: 'md' } },
    TextInput: { defaultProps: { size: 'xs' } },
    PasswordInput: { defaultProps: { size: 'sm' } },
    Textarea: { defaultProps: { size: 'sm' } },
    NumberInput: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { size: 'xs', checkIconPosition: 'right' } },
    SegmentedControl: {
      defaultProps: { size: 'xs', withItemsBorders: false },
      vars: () => ({ root: { '--sc-padding': '3px 10px' } }),
    },
    Checkbox: { defaultProps: { size: 'xs' } },
    Switch: { defaultProps: { size: 'sm' } },
    Tabs: { defaultProps: { keepMounted: false } },
    Badge: { defaultProps: { variant: 'light', radius: 'sm', tt: 'none', fw: 600 } },
    Modal: {
      defaultProps: { centered: true, padding: 'lg', transitionProps: { duration: 120 }, attributes: HEADLESS },
    },
    Drawer: {
      defaultProps: {
        position: 'right',
        size: 480,
        padding: 'lg',
        transitionProps: { duration: 150 },
        attributes: HEADLESS,
      },
    },
    Tooltip: { defaultProps: { openDelay: 300, transitionProps: { duration: 100 } } },
    Menu: { defaultProps: { transitionProps: { duration: 100 } } },
    Table: { defaultProps: { verticalSpacing: 6, horizontalSpacing: 12 } },
  },
});

const HUES = ['green', 'red', 'yellow', 'blue', 'brand', 'slate'] as const;

function hues(of: (hue: string) => Record<string, string>): Record<string, string> {
  return Object.assign({}, ...HUES.map(of)) as Record<string, string>;
}

const OURS = {
  '--mantine-color-body': 'var(--cm-panel)',
  '--mantine-color-text': 'var(--cm-fg)',
  '--mantine-color-dimmed': 'var(--cm-muted)',
  '--mantine-color-placeholder': 'var(--cm-muted)',
  '--mantine-color-anchor': 'var(--cm-link)',
  '--mantine-color-error': 'var(--cm-err)',
  '--mantine-color-default-border': 'var(--cm-control)',
  '--mantine-color-default-hover': 'var(--cm-hover)',
};

export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...OURS,
    ...hues((hue) => ({
      [`--mantine-color-${hue}-light`]: `var(--mantine-color-${hue}-${hue === 'slate' ? 1 : 0})`,
      [`--mantine-color-${hue}-light-hover`]: `var(--mantine-color-${hue}-1)`,
      [`--mantine-color-${hue}-light-color`]: `var(--mantine-color-${hue}-8)`,
    })),
  },
  dark: {
    ...OURS,
    '--mantine-color-default': 'var(--cm-raised)',
    ...hues((hue) => ({
      [`--mantine-color-${hue}-light`]: `color-mix(in srgb, var(--mantine-color-${hue}-3) 14%, var(--cm-panel))`,
      [`--mantine-color-${hue}-light-hover`]: `color-mix(in srgb, var(--mantine-color-${hue}-3) 20%, var(--cm-panel))`,
      [`--mantine-color-${hue}-light-color`]: `var(--mantine-color-${hue}-3)`,
    })),
  },
});
