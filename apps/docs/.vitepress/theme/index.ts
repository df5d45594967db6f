import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';
import { keepTabsTogether } from './tabs.js';

export default {
  extends: DefaultTheme,
  enhanceApp({ router }) {
    if (typeof document !== 'undefined') keepTabsTogether(router);
  },
} satisfies Theme;
