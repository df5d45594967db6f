import type { DefaultTheme } from 'vitepress';
import { FOLDER, type Language } from './translations.js';

interface Group {
  title: Record<Language, string>;
  /** The pages by path, in reading order. */
  pages: [path: string, title: Record<Language, string>][];
}

const both = (en: string, pt: string): Record<Language, string> => ({ en, 'pt-BR': pt });

/** Every page of the site except the front page, in reading order. */
export const GROUPS: Group[] = [
  {
    title: both('Start', 'Comece aqui'),
    pages: [
      ['quick-start', both('Quick start', 'Primeiros passos')],
      ['sign-in', both('A complete sign-in', 'Um login completo')],
      ['resend', both('Resend a code', 'Reenviar um código')],
      ['polling', both('Follow delivery', 'Acompanhar a entrega')],
      ['showing-errors', both('Messages for users', 'Mensagens de erro')],
      ['testing', both('Test mode and CI', 'Modo de teste e CI')],
      ['sdk', both('The SDK', 'O SDK')],
      ['double', both('Test double', 'Dublê de teste')],
      ['examples', both('Examples', 'Exemplos')],
    ],
  },
  {
    title: both('Go live', 'Produção'),
    pages: [
      ['going-live', both('Going live', 'Entrar em produção')],
      ['phone-numbers', both('Phone numbers', 'Números de telefone')],
      ['autofill', both('Autofill', 'Preenchimento automático')],
      ['app-review', both('App-store review', 'Revisão nas lojas de apps')],
      ['security', both('Security', 'Segurança')],
      ['events', both('Account events', 'Eventos por webhook')],
    ],
  },
  {
    title: both('Migrate', 'Migração'),
    pages: [
      ['migrate/twilio-verify', both('From Twilio Verify', 'Do Twilio Verify')],
      ['migrate/vonage-verify', both('From Vonage Verify', 'Do Vonage Verify')],
      ['migrate/own-codes', both('From your own codes', 'De códigos próprios')],
    ],
  },
  {
    title: both('Integrate', 'Integrações'),
    pages: [
      ['integrate/better-auth', both('better-auth', 'better-auth')],
      ['integrate/supabase', both('Supabase Auth', 'Supabase Auth')],
      ['integrate/zitadel', both('Zitadel', 'Zitadel')],
      ['integrate/kratos', both('Ory Kratos', 'Ory Kratos')],
      ['integrate/keycloak', both('Keycloak', 'Keycloak')],
      ['integrate/logto', both('Logto', 'Logto')],
      ['integrate/cognito', both('Amazon Cognito', 'Amazon Cognito')],
    ],
  },
  {
    title: both('Reference', 'Referência'),
    pages: [
      ['reference/', both('API reference', 'Referência da API')],
      ['reference/create-send', both('Send a code', 'Enviar um código')],
      ['reference/send-status', both('Follow a send', 'Acompanhar um envio')],
      ['reference/verify-code', both('Verify a code', 'Verificar um código')],
      ['reference/signup-settings', both('Read the sign-up offer', 'Consultar a oferta de cadastro')],
      ['reference/objects', both('Objects', 'Objetos')],
      ['errors', both('Errors', 'Erros')],
    ],
  },
];

/** Returns the menu for the pages of a language. */
export const sidebar = (language: Language): DefaultTheme.SidebarItem[] =>
  GROUPS.map(({ title, pages }) => ({
    text: title[language],
    items: pages.map(([path, name]) => ({ text: name[language], link: `/${FOLDER[language]}${path}` })),
  }));
