/**
 * What the phone shows for an authentication template, with or without its security advice. Meta fixes this text for each language; the
 * asterisks are WhatsApp's mark for bold.
 */
export function templateText(language: string, code: string, withAdvice = true): string {
  const [text, advice] = language.startsWith('pt')
    ? [`*${code}* é seu código de verificação.`, 'Para sua segurança, não o compartilhe.']
    : [`*${code}* is your verification code.`, 'For your security, do not share this code.'];
  return withAdvice ? `${text} ${advice}` : text;
}
