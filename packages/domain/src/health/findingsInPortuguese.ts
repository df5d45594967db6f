import type { CauseOf, FindingName } from './findings.js';

type Texts = { readonly [Name in FindingName]: Readonly<Record<CauseOf<Name> | 'remedy', string>> };

/** The Portuguese sentence for each cause of each finding, and its remedy. The English ones are in `FINDINGS`. */
const TEXTS: Texts = {
  postgresql_unavailable: {
    unavailable: 'O PostgreSQL está indisponível ou recusa a senha.',
    remedy:
      'Nada é enviado nem verificado até o PostgreSQL responder. Verifique se o servidor está no ar, tem espaço em disco e pode ser alcançado; os logs dos processos mostram o motivo. Eles se recuperam sem reinício, a menos que DATABASE_URL mude.',
  },
  postgresql_overloaded: {
    slow: 'O PostgreSQL está respondendo devagar.',
    connections: 'O PostgreSQL está ficando sem conexões.',
    remedy:
      'Procure em pg_stat_activity comandos longos, bloqueios e conexões inesperadas, e encerre-os. Verifique a carga e o disco do servidor.',
  },
  redis_unhealthy: {
    unavailable: 'O Redis está indisponível ou recusa comandos.',
    slow: 'O Redis está respondendo devagar.',
    remedy:
      'Os códigos continuam saindo, com um pequeno atraso: os workers leem os envios no banco. Os logs dos processos mostram o motivo. Conserte o Redis ou troque-o por um vazio.',
  },
  no_workers: {
    none: 'Nenhum worker está em execução.',
    remedy:
      'Inicie os workers; as últimas linhas de log deles mostram por que pararam. Até lá, os envios esperam no banco.',
  },
  workers_behind: {
    loops: 'Há workers em execução, mas os ciclos deles travaram.',
    sends: 'Há envios à espera de um worker.',
    receipts: 'Há confirmações de entrega guardadas e não aplicadas.',
    retention: 'As estatísticas diárias ou a retenção estão mais de um dia atrasadas.',
    remedy:
      'Procure erros nos logs dos workers. Reinicie os workers travados; se só estão ocupados, inicie mais um.',
  },
  sender_misconfigured: {
    refused: 'A Meta recusa nossa conta, token ou modelo.',
    remedy:
      'A página Remetentes mostra o remetente e o motivo. Defina um novo token, ou corrija a configuração no Gerenciador de Negócios da Meta e retome o remetente.',
  },
  insufficient_senders: {
    none: 'Há envios à espera e nenhum remetente.',
    busy: 'Chegam mais envios do que os remetentes conseguem enviar.',
    remedy:
      'Adicione um remetente, ou aumente a vazão dos atuais se a Meta permitir. Ou limite a conta que mais envia.',
  },
  senders_blocked: {
    provider: 'A Meta bloqueou remetentes.',
    fault: 'Há remetentes em pausa automática após erros da Meta.',
    template: 'A Meta bloqueou um modelo.',
    remedy:
      'A página Remetentes mostra o que a Meta informa e até quando. Faça o que o Gerenciador do WhatsApp pede. O bloqueio termina quando a Meta o retira; a pausa automática termina sozinha.',
  },
  sender_quality_low: {
    quality: 'A Meta classifica como baixa a qualidade de um número: pessoas o bloqueiam ou denunciam.',
    remedy:
      'Envie menos por esse número. Procure uma conta cujos destinatários não esperam códigos, ou tráfego inflado. A Meta pode limitar o número em seguida.',
  },
  messages_held: {
    held: 'A Meta aceita mensagens e as retém: os códigos chegam tarde ou não chegam.',
    remedy:
      'Abra o Gerenciador do WhatsApp: é preciso verificar um portfólio empresarial novo ou sem verificação, ou encerrar uma pausa. Se outro portfólio tem remetentes, pause o remetente até lá.',
  },
  paused_by_operator: {
    hold: 'Há envios retidos.',
    senders: 'Operadores pausaram remetentes.',
    queue: 'Há uma fila pausada no Redis.',
    remedy:
      'Fale com o operador responsável antes de liberar ou retomar os envios. Envios retidos, ou sem outro remetente, falham quando o código expira.',
  },
  provider_unhealthy: {
    errors: 'As chamadas à Meta estão falhando.',
    slow: 'A Meta está respondendo devagar.',
    remedy:
      'Veja a página de status da Meta e se nossa rede alcança outros servidores. Os envios são tentados de novo, e as unidades dos que falham são devolvidas. Se demorar, retenha a entrega em produção.',
  },
  webhooks_rejected: {
    signature: 'Estão chegando webhooks com assinatura inválida.',
    remedy:
      'Compare o WHATSAPP_APP_SECRET de cada processo da API com o segredo do app na Meta, que repete os webhooks recusados por sete dias. Se outros webhooks são aceitos, os recusados podem não ser da Meta.',
  },
  receipts_missing: {
    missing: 'A Meta aceita as mensagens, mas as confirmações de entrega não chegam.',
    remedy:
      'Verifique o webhook nas configurações do app na Meta, a página de status dela e se /webhooks/whatsapp pode ser alcançado pela internet. Os códigos saem; só o status fica em enviado.',
  },
  deliveries_missing: {
    country: 'Em relação à semana anterior, aumentou a parcela de mensagens nunca entregues a um país.',
    sender: 'Em relação à semana anterior, aumentou a parcela de mensagens nunca entregues de um remetente.',
    remedy:
      'Abra a página Remetentes e compare a coluna Nunca entregues. Se um remetente se destaca, pause-o. Se for um país, procure, na visão geral das contas, a conta que inflou o tráfego.',
  },
  sends_failing: {
    all: 'Os envios estão falhando.',
    reason: 'Os envios estão falhando por um motivo que não depende do destinatário.',
    country: 'Os envios para um país estão falhando.',
    sender: 'Os envios de um remetente estão falhando.',
    remedy:
      'Abra um envio que falhou: a linha do tempo tem o código da Meta. Se os códigos expiraram, verifique workers, remetentes e retenções. Pause o remetente que falha, ou retenha o país que falha. As unidades são devolvidas.',
  },
  mail_failing: {
    mail: 'Os e-mails não estão sendo enviados.',
    remedy:
      'Veja na página Saúde a última resposta do servidor SMTP e se SMTP_URL ainda é válido. Os códigos não são afetados. O envio de cada e-mail é tentado durante um dia.',
  },
};

export const FINDINGS_IN_PORTUGUESE: Readonly<Record<FindingName, Readonly<Record<string, string>>>> = TEXTS;
