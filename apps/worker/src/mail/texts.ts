import { findingTexts, type FindingText, type Locale } from '@onecode/domain';
import type { MailFacts, MailKind } from '@onecode/store/mails';

/** The values that a text can use in addition to the facts of its kind. */
export interface Around {
  /** The name of the account that the mail is about, or empty. */
  account: string;
  /** Returns a name for the subject, or `your account` for a trial account: anyone can create one and choose its names. */
  inSubject: (name: string) => string;
  /** Whether a user signs in with the recipient's address. */
  isKnown: boolean;
  number: (value: number) => string;
  country: (code: string) => string;
  language: (code: string) => string;
  time: (at: string) => string;
}

/** The target of a mail's button: the mail's own link, or a page of the console. */
export type Target =
  | 'link'
  | 'sign-in'
  | 'profile'
  | 'applications'
  | 'webhook'
  | 'team'
  | 'overview'
  | 'senders'
  | 'health';

export interface Text {
  subject: string;
  paragraphs: string[];
  button?: [label: string, target: Target];
}

type Texts = { [Kind in MailKind]: (facts: MailFacts[Kind], around: Around) => Text };

/** The texts of the mails. User-chosen names are passed through `plainName` first. */
export const TEXTS: Readonly<Record<Locale, Texts>> = {
  en: {
    password_reset: () => ({
      subject: 'Set a new password',
      paragraphs: [
        'A new password was requested for this address. The link is valid for one hour and works once.',
        'If this was not you, ignore this email: your password does not change.',
      ],
      button: ['Set a new password', 'link'],
    }),
    sign_up: (_, { isKnown }) =>
      isKnown
        ? {
            subject: 'You are already registered',
            paragraphs: [
              'You or another person tried to sign up with this address, which is already registered. Nothing has changed.',
              'If this was you, sign in. If you forgot your password, you can set a new one on the sign-in page.',
            ],
            button: ['Sign in', 'sign-in'],
          }
        : {
            subject: 'Confirm your email address',
            paragraphs: [
              'Open the link and enter the password that you chose. The link is valid for one day and works once.',
              'If you did not sign up, ignore this email: your address cannot be used without the link.',
            ],
            button: ['Confirm address', 'link'],
          },
    address_change: () => ({
      subject: 'Confirm your new email address',
      paragraphs: [
        'Open the link in the browser where you are signed in. After that, you sign in with this address. The link is valid for one day and works once.',
        'If you did not request this, ignore this email.',
      ],
      button: ['Confirm address', 'link'],
    }),
    invitation: ({ account, role, by }) => ({
      subject: account === null ? 'You are invited to Onecode' : `Join ${account} on Onecode`,
      paragraphs: [
        `${by} invites you to ${account === null ? 'an account' : `the account ${account}`} as ${ROLES.en[role] ?? role}. The invitation is valid for seven days and works once.`,
        'If you do not know this person, ignore this email.',
      ],
      button: ['View invitation', 'link'],
    }),
    ...signInChanges('en', 'Open profile', {
      password_changed: ['Your password was changed', 'All other sessions have ended.'],
      two_factor_on: [
        'Two-factor authentication is on',
        'From now on, signing in also requires a code from your authenticator app.',
      ],
      two_factor_off: ['Two-factor authentication is off', 'Your password alone is now enough to sign in.'],
      backup_codes_replaced: ['Your backup codes were replaced', 'The earlier ones no longer work.'],
      passkey_added: ['A passkey was added', 'You can now sign in with it, without a password or a code.'],
      passkey_removed: [
        'A passkey was removed',
        'You can no longer sign in with it, and all other sessions have ended.',
      ],
    }),
    address_changed: ({ to }) => ({
      subject: 'Your email address was changed',
      paragraphs: [`You now sign in with ${to}. This address gets no more emails.`, NOT_YOU.en],
    }),
    key_made: ({ application, hint, by }, { account, inSubject }) => ({
      subject: `New API key for ${inSubject(application)}`,
      paragraphs: [
        `${by ?? 'An operator of this service'} created the key ${hint} for the application ${application} of ${account}.`,
        'If you did not expect this, revoke the key.',
      ],
      button: ['View keys', 'applications'],
    }),
    key_revoked: ({ application, hint, by }, { account, inSubject }) => ({
      subject: `API key of ${inSubject(application)} revoked`,
      paragraphs: [
        `${by ?? 'An operator of this service'} revoked the key ${hint} of the application ${application} of ${account}. Requests that use it are now refused.`,
      ],
      button: ['View keys', 'applications'],
    }),
    webhook_changed: ({ host, isSecretNew, by }, { account, inSubject }) => ({
      subject: `Webhook of ${inSubject(account)} changed`,
      paragraphs: [
        `${by ?? 'An operator of this service'} ${
          isSecretNew
            ? `replaced the webhook secret of ${account}`
            : host === null
              ? `removed the webhook of ${account}`
              : `set the webhook of ${account}: its events are now sent to ${host}`
        }.`,
        'If you did not expect this, undo the change and check the members of the team.',
      ],
      button: ['View webhook', 'webhook'],
    }),
    member_joined: ({ name, role }, { account, inSubject }) => ({
      subject: `New member of ${inSubject(account)}`,
      paragraphs: [
        `${name} is now a member of ${account}, as ${ROLES.en[role] ?? role}.`,
        'If you did not expect this, remove them from the team.',
      ],
      button: ['View team', 'team'],
    }),
    key_expires: ({ application, hint, days, until }, { account, inSubject, time }) => ({
      subject: `An API key of ${inSubject(application)} expires in ${days === 1 ? 'a day' : `${days} days`}`,
      paragraphs: [
        `The key ${hint} of the application ${application} of ${account} expires on ${time(until)}. After that, requests that use it are refused.`,
        'If the key is in use, create a new one, switch to it, and then revoke the old one.',
      ],
      button: ['View keys', 'applications'],
    }),
    deletion_scheduled: ({ deleteAt, by }, { account, inSubject, time }) => ({
      subject: `${inSubject(account)} will be deleted`,
      paragraphs: [
        `${by ?? 'An operator of this service'} requested the deletion of the account ${account}. It will be deleted on ${time(deleteAt)}. Until then, everything works as before, and any admin can cancel the deletion.`,
        'After that, members lose access, keys stop working, and sends and numbers are permanently deleted.',
      ],
      button: ['Cancel deletion', 'team'],
    }),
    deletion_cancelled: ({ by }, { account, inSubject }) => ({
      subject: `${inSubject(account)} will not be deleted`,
      paragraphs: [
        `${by ?? 'An operator of this service'} cancelled the deletion of the account ${account}. Nothing will be deleted.`,
      ],
      button: ['View team', 'team'],
    }),
    low_balance: ({ left, below, perDay }, { account, inSubject, number }) => ({
      subject: `Low balance: ${inSubject(account)} has ${units('en', left, number)} left`,
      paragraphs: [
        `The balance of ${account} has fallen below ${units('en', below, number)}. Without units, live sends are refused, and users get no codes.`,
        ...rate(
          perDay,
          left,
          (days) =>
            `At the rate of the last day (${number(perDay)} live sends), the balance will be used up in ${days}.`,
          (days) => (days < 1 ? 'less than a day' : days < 2 ? 'a day' : `${number(Math.floor(days))} days`),
        ),
      ],
      button: ['View balance', 'overview'],
    }),
    breaker_tripped: ({ country, sends, unverified, until }, around) => ({
      subject: `${around.inSubject(around.account)}: sends to ${around.country(country)} are blocked`,
      paragraphs: [
        `Of the last ${around.number(sends)} codes that ${around.account} sent to ${around.country(country)}, ${around.number(unverified)} were not verified. This looks like traffic pumping, so the fraud breaker blocks sends to this country until ${around.time(until)}.`,
        'Sends to other countries continue. Check who is requesting codes through your sign-in form.',
      ],
      button: ['View details', 'overview'],
    }),
    sender_blocked: ({ number, reason, language, country }, around) => ({
      subject: `The sender ${number} is blocked`,
      paragraphs: [
        language !== null
          ? `The sender cannot send messages in ${around.language(language)}.`
          : country === null
            ? 'The sender cannot send messages.'
            : `The sender cannot send messages to ${around.country(country)}.`,
        blockReason('en', reason),
        'The Senders page explains the reason and what to do.',
      ],
      button: ['View senders', 'senders'],
    }),
    finding: (facts, { country, time }) => {
      const { sentence, remedy } = findingText('en', facts, country);
      return {
        subject: `Onecode alert: ${sentence}`,
        paragraphs: [
          `${sentence}. This check has been failing for more than five minutes. The incident began on ${time(facts.since)}.`,
          remedy,
          ...(facts.acknowledgedBy === null
            ? []
            : [
                `${facts.acknowledgedBy} has acknowledged the incident${facts.note === null ? '.' : `: “${facts.note}”`}`,
              ]),
          'The Health page shows what is affected.',
        ],
        button: ['Open Health', 'health'],
      };
    },
  },
  'pt-BR': {
    password_reset: () => ({
      subject: 'Defina uma nova senha',
      paragraphs: [
        'Recebemos um pedido de nova senha para este e-mail. O link vale por uma hora e funciona uma única vez.',
        'Se não foi você, ignore este e-mail: sua senha continua a mesma.',
      ],
      button: ['Definir nova senha', 'link'],
    }),
    sign_up: (_, { isKnown }) =>
      isKnown
        ? {
            subject: 'Você já tem cadastro',
            paragraphs: [
              'Você ou outra pessoa tentou se cadastrar com este e-mail, que já tem cadastro. Nada mudou.',
              'Se foi você, é só entrar. Se esqueceu a senha, defina outra na página de login.',
            ],
            button: ['Entrar', 'sign-in'],
          }
        : {
            subject: 'Confirme seu e-mail',
            paragraphs: [
              'Abra o link e digite a senha que você escolheu. O link vale por um dia e funciona uma única vez.',
              'Se você não se cadastrou, ignore esta mensagem: sem o link, ninguém pode usar seu e-mail.',
            ],
            button: ['Confirmar o e-mail', 'link'],
          },
    address_change: () => ({
      subject: 'Confirme seu novo e-mail',
      paragraphs: [
        'Abra o link no navegador em que você está conectado. Depois disso, você passa a entrar com este e-mail. O link vale por um dia e funciona uma única vez.',
        'Se você não pediu isso, ignore este e-mail.',
      ],
      button: ['Confirmar o e-mail', 'link'],
    }),
    invitation: ({ account, role, by }) => ({
      subject:
        account === null
          ? 'Você recebeu um convite para o Onecode'
          : `Entre na equipe de ${account} no Onecode`,
      paragraphs: [
        `${by} convida você para ${account === null ? 'uma conta' : `a conta ${account}`} como ${ROLES['pt-BR'][role] ?? role}. O convite vale por sete dias e funciona uma única vez.`,
        'Se você não conhece essa pessoa, ignore este e-mail.',
      ],
      button: ['Ver o convite', 'link'],
    }),
    ...signInChanges('pt-BR', 'Abrir o perfil', {
      password_changed: ['Sua senha foi alterada', 'Todas as outras sessões foram encerradas.'],
      two_factor_on: [
        'A autenticação em dois fatores está ativa',
        'A partir de agora, o login também exige um código do seu aplicativo autenticador.',
      ],
      two_factor_off: [
        'A autenticação em dois fatores está desativada',
        'A partir de agora, sua senha basta para entrar.',
      ],
      backup_codes_replaced: ['Seus códigos de reserva foram trocados', 'Os anteriores não funcionam mais.'],
      passkey_added: ['Uma chave de acesso foi adicionada', 'Com ela, você entra sem senha e sem código.'],
      passkey_removed: [
        'Uma chave de acesso foi removida',
        'Ela não serve mais para entrar, e todas as outras sessões foram encerradas.',
      ],
    }),
    address_changed: ({ to }) => ({
      subject: 'Seu e-mail foi alterado',
      paragraphs: [`Agora você entra com ${to} e não recebe mais mensagens neste e-mail.`, NOT_YOU['pt-BR']],
    }),
    key_made: ({ application, hint, by }, { account, inSubject }) => ({
      subject: `Nova chave de API para ${inSubject(application)}`,
      paragraphs: [
        `${by ?? 'A equipe do serviço'} criou a chave ${hint} para a aplicação ${application} de ${account}.`,
        'Se você não esperava isso, revogue a chave.',
      ],
      button: ['Ver as chaves', 'applications'],
    }),
    key_revoked: ({ application, hint, by }, { account, inSubject }) => ({
      subject: `Chave de API de ${inSubject(application)} revogada`,
      paragraphs: [
        `${by ?? 'A equipe do serviço'} revogou a chave ${hint} da aplicação ${application} de ${account}. As requisições que a usam passam a ser recusadas.`,
      ],
      button: ['Ver as chaves', 'applications'],
    }),
    webhook_changed: ({ host, isSecretNew, by }, { account, inSubject }) => ({
      subject: `Webhook de ${inSubject(account)} alterado`,
      paragraphs: [
        `${by ?? 'A equipe do serviço'} ${
          isSecretNew
            ? `trocou o segredo do webhook de ${account}`
            : host === null
              ? `removeu o webhook de ${account}`
              : `definiu o webhook de ${account}: os eventos agora são enviados a ${host}`
        }.`,
        'Se você não esperava isso, desfaça a mudança e confira quem está na equipe.',
      ],
      button: ['Ver o webhook', 'webhook'],
    }),
    member_joined: ({ name, role }, { account, inSubject }) => ({
      subject: `Novo membro em ${inSubject(account)}`,
      paragraphs: [
        `${name} agora é membro de ${account}, como ${ROLES['pt-BR'][role] ?? role}.`,
        'Se você não esperava isso, remova a pessoa da equipe.',
      ],
      button: ['Ver a equipe', 'team'],
    }),
    key_expires: ({ application, hint, days, until }, { account, inSubject, time }) => ({
      subject: `Uma chave de API de ${inSubject(application)} expira em ${days === 1 ? 'um dia' : `${days} dias`}`,
      paragraphs: [
        `A chave ${hint} da aplicação ${application} de ${account} expira em ${time(until)}. Depois disso, as requisições que a usam são recusadas.`,
        'Se a chave está em uso, crie uma nova, passe a usá-la e só então revogue a antiga.',
      ],
      button: ['Ver as chaves', 'applications'],
    }),
    deletion_scheduled: ({ deleteAt, by }, { account, inSubject, time }) => ({
      subject: `${inSubject(account)} vai ser excluída`,
      paragraphs: [
        `${by ?? 'A equipe do serviço'} pediu a exclusão da conta ${account}. Ela será excluída em ${time(deleteAt)}. Até lá, tudo funciona como antes, e qualquer administrador pode cancelar a exclusão.`,
        'Depois disso, os membros perdem o acesso, as chaves param de funcionar, e os envios e números são apagados para sempre.',
      ],
      button: ['Cancelar a exclusão', 'team'],
    }),
    deletion_cancelled: ({ by }, { account, inSubject }) => ({
      subject: `${inSubject(account)} não vai mais ser excluída`,
      paragraphs: [
        `${by ?? 'A equipe do serviço'} cancelou a exclusão da conta ${account}. Tudo fica como está.`,
      ],
      button: ['Ver a equipe', 'team'],
    }),
    low_balance: ({ left, below, perDay }, { account, inSubject, number }) => ({
      subject: `Saldo baixo: ${inSubject(account)} só tem ${units('pt-BR', left, number)}`,
      paragraphs: [
        `O saldo de ${account} caiu abaixo de ${units('pt-BR', below, number)}. Sem unidades, os envios em produção são recusados, e os usuários não recebem códigos.`,
        ...rate(
          perDay,
          left,
          (days) =>
            `No ritmo do último dia (${number(perDay)} envios em produção), o saldo acaba em ${days}.`,
          (days) => (days < 1 ? 'menos de um dia' : days < 2 ? 'um dia' : `${number(Math.floor(days))} dias`),
        ),
      ],
      button: ['Ver o saldo', 'overview'],
    }),
    breaker_tripped: ({ country, sends, unverified, until }, around) => ({
      subject: `${around.inSubject(around.account)}: envios para ${around.country(country)} bloqueados`,
      paragraphs: [
        `Dos últimos ${around.number(sends)} códigos de ${around.account} para ${around.country(country)}, ${around.number(unverified)} não foram verificados. Isso parece tráfego inflado; por isso, o disjuntor antifraude bloqueia os envios para esse país até ${around.time(until)}.`,
        'Os envios para outros países continuam. Verifique quem está pedindo códigos na sua página de login.',
      ],
      button: ['Ver o que aconteceu', 'overview'],
    }),
    sender_blocked: ({ number, reason, language, country }, around) => ({
      subject: `O remetente ${number} está bloqueado`,
      paragraphs: [
        language !== null
          ? `O remetente não consegue enviar mensagens em ${around.language(language)}.`
          : country === null
            ? 'O remetente não consegue enviar mensagens.'
            : `O remetente não consegue enviar mensagens para ${around.country(country)}.`,
        blockReason('pt-BR', reason),
        'A página Remetentes explica o motivo e mostra o que fazer.',
      ],
      button: ['Ver os remetentes', 'senders'],
    }),
    finding: (facts, { country, time }) => {
      const { sentence, remedy } = findingText('pt-BR', facts, country);
      return {
        subject: `Alerta do Onecode: ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`,
        paragraphs: [
          `${sentence}. O problema já dura mais de cinco minutos. O incidente começou em ${time(facts.since)}.`,
          remedy,
          ...(facts.acknowledgedBy === null
            ? []
            : [
                `${facts.acknowledgedBy} já está cuidando disso${facts.note === null ? '.' : `: “${facts.note}”`}`,
              ]),
          'A página Saúde mostra o que foi afetado.',
        ],
        button: ['Abrir Saúde', 'health'],
      };
    },
  },
};

/** Returns a finding's sentence (without the period, with its subject) and its remedy. */
function findingText(
  language: Locale,
  facts: MailFacts['finding'],
  countryName: Around['country'],
): FindingText {
  const { sentence, remedy } = findingTexts(facts)[language];
  const error =
    facts.errorCode === null ? null : `${language === 'en' ? 'error' : 'erro'} ${facts.errorCode}`;
  const country = facts.country === null ? null : countryName(facts.country);
  const about = country ?? facts.sender ?? facts.template ?? error;
  return { sentence: sentence.replace(/\.$/, about === null ? '' : `: ${about}`), remedy };
}

/** Returns a sentence with the reason of a block: the template's status or category at Meta, or an English text that is kept as it is. */
function blockReason(language: Locale, reason: string): string {
  const { status, category, other } = REASONS[language];
  const [, name] = /^category (.*)$/.exec(reason) ?? [];
  if (name !== undefined) return category(name);
  return /^[A-Z_]+(?: \(.*\))?$/.test(reason) ? status(reason) : other(reason);
}

const REASONS: Readonly<
  Record<Locale, Readonly<Record<'status' | 'category' | 'other', (text: string) => string>>>
> = {
  en: {
    status: (text) => `Reason: Meta reports the template status ${text}.`,
    category: (text) => `Reason: Meta has moved the template to the category ${text}.`,
    other: (text) => `Reason: ${text}`,
  },
  'pt-BR': {
    status: (text) => `Motivo: a Meta informa que o status do modelo é ${text}.`,
    category: (text) => `Motivo: a Meta mudou o modelo para a categoria ${text}.`,
    other: (text) => `Motivo, em inglês: ${text}`,
  },
};

const ROLES: Readonly<Record<Locale, Readonly<Record<string, string>>>> = {
  en: { admin: 'admin', developer: 'developer', viewer: 'viewer' },
  'pt-BR': { admin: 'administrador', developer: 'desenvolvedor', viewer: 'leitor' },
};

const NOT_YOU: Readonly<Record<Locale, string>> = {
  en: 'If this was not you, set a new password now and contact an operator of this service.',
  'pt-BR': 'Se não foi você, defina uma nova senha agora e avise a equipe do serviço.',
};

/** Returns the texts of the mails about changes to a user's own sign-in. */
function signInChanges<Kind extends MailKind>(
  locale: Locale,
  label: string,
  changes: Record<Kind, [subject: string, meaning: string]>,
) {
  const texts = Object.entries<[string, string]>(changes).map(([kind, [subject, meaning]]) => {
    const text = (): Text => ({
      subject,
      paragraphs: [meaning, NOT_YOU[locale]],
      button: [label, 'profile'],
    });
    return [kind, text];
  });
  return Object.fromEntries(texts) as Record<Kind, () => Text>;
}

/**
 * Fixed texts: before the button's address, in the footer of mails that can or cannot be turned off, for a trial account's name, and for
 * the country of numbers without one.
 */
export const AROUND: Readonly<
  Record<Locale, Record<'copy' | 'muted' | 'fixed' | 'yourAccount' | 'noCountry', string>>
> = {
  en: {
    yourAccount: 'your account',
    noCountry: 'numbers without a country',
    copy: 'If the button does not work, open this address:',
    muted: 'You can choose in your profile which of these emails you get.',
    fixed: 'This email cannot be turned off: it was requested, or it is about the security of your account.',
  },
  'pt-BR': {
    yourAccount: 'sua conta',
    noCountry: 'números sem país',
    copy: 'Se o botão não funcionar, abra este endereço:',
    muted: 'No seu perfil, você escolhe quais destes e-mails quer receber.',
    fixed: 'Este e-mail não pode ser desativado: ele foi solicitado ou trata da segurança da sua conta.',
  },
};

/** Returns the sentence about how long the balance lasts; none for an account that sends nothing. */
function rate(
  perDay: number,
  left: number,
  sentence: (days: string) => string,
  daysText: (days: number) => string,
): string[] {
  return perDay === 0 || left <= 0 ? [] : [sentence(daysText(left / perDay))];
}

const UNITS = { en: ['unit', 'units'], 'pt-BR': ['unidade', 'unidades'] } as const;

const units = (language: Locale, count: number, number: Around['number']): string =>
  `${number(count)} ${UNITS[language][count === 1 ? 0 : 1]}`;
