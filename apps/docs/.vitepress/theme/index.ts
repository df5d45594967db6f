import { nextTick } from 'vue';
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { keepTranslated, translateTheme } from './labels.js';
import { chooseStoredTab, keepTabsTogether } from './tabs.js';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ router }) {
    if (typeof document === 'undefined') return;
    keepTabsTogether();
    keepTranslated();
    const complete = (): void =>
      void nextTick(() => {
        chooseStoredTab();
        translateTheme();
        // The theme gives the front page no landmark. For the first load, the build adds it.
        document.querySelector('.VPHome')?.setAttribute('role', 'main');
      });
    router.onAfterRouteChange = complete;
    addEventListener('load', complete);
  },
} satisfies Theme;
