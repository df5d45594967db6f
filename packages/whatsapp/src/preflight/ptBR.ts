import type { PreflightTexts } from './texts.js';

export const PT_BR: PreflightTexts = {
  fine: {
    token_valid: 'A Meta aceita o token de acesso.',
    token_scopes: 'O token de acesso tem as permissões necessárias.',
    number_connected: 'O número está conectado.',
    template_pt_br: 'O modelo {template} ({language}) está aprovado e copia o código.',
    template_en: 'O modelo {template} ({language}) está aprovado e copia o código.',
    template_ttl: 'A Meta não entrega mensagem alguma depois que o código vence.',
    template_footer: 'Os rodapés dizem por quanto tempo os códigos valem.',
    webhook_subscribed: 'A Meta manda os webhooks desta conta empresarial para o aplicativo.',
    business_verified: 'Nada indica que a empresa não esteja verificada.',
    messaging_limit: '{people} pessoas nas últimas 24 horas, dentro do limite {limit}.',
  },
  findings: {
    unknown:
      'A Meta não informou isto. Verifique de novo e, se continuar assim, consulte o Gerenciador do WhatsApp.',
    not_read:
      'Não foi possível ler: {why} Confira o token, a rede e se há um worker rodando, e verifique de novo.',
    token_invalid:
      'A Meta não aceita o token de acesso. Gere um novo nas Configurações do negócio e substitua-o aqui.',
    token_expires:
      'O token de acesso vence em {at}. Substitua-o por um token de usuário do sistema que não expire.',
    scopes_missing:
      'Faltam ao token de acesso: {scopes}. Dê essas permissões ao usuário do sistema e substitua o token aqui.',
    number_status: 'A Meta diz sobre o número: {status}. Conecte-o ou registre-o no Gerenciador do WhatsApp.',
    number_blocked: 'A Meta não deixa o número enviar: {why}. Faça o que o Gerenciador do WhatsApp pede.',
    template_missing:
      'A Meta não tem o modelo {template} em {language}. Crie-o no Gerenciador do WhatsApp, na categoria autenticação.',
    template_status:
      'O modelo {template} ({language}) está {status}{reason}. Veja no Gerenciador do WhatsApp o que a Meta pede.',
    template_category:
      'O modelo {template} ({language}) está na categoria {category}. Crie um na categoria autenticação.',
    template_button: 'O modelo {template} ({language}) não tem botão que copie o código. Acrescente um.',
    ttl_too_long:
      'O modelo ({language}) pode ser entregue por até {seconds} s, mas os códigos valem {validity} s. Reduza o período de validade dele no Gerenciador do WhatsApp.',
    footer_differs:
      'O rodapé do modelo ({language}) diz {footer} min, mas os códigos valem {validity} s. Mude o modelo ou code_validity_seconds.',
    not_subscribed:
      'A Meta não manda os webhooks desta conta empresarial para o aplicativo. Inscreva o aplicativo: POST /{conta empresarial}/subscribed_apps.',
    not_verified:
      'A empresa não está verificada ({status}). Verifique-a nas Configurações do negócio; até lá o limite continua baixo.',
    limit_near:
      '{people} pessoas nas últimas 24 horas, perto do limite {limit} que todos os números da empresa dividem. Peça à Meta um limite maior.',
    limit_reached:
      '{people} pessoas nas últimas 24 horas atingiram o limite {limit} que todos os números da empresa dividem. A Meta recusa novas.',
  },
};
