/**
 * The types of Keycloak 26 and Jakarta REST that the guide for Keycloak uses, with the members that it uses. Their signatures are those of
 * Keycloak's sources (`server-spi`, `server-spi-private`), because its archives are not available where tests run.
 */
const TYPES: Record<string, string> = {
  'jakarta.ws.rs.core.MultivaluedMap':
    'interface MultivaluedMap<K, V> extends java.util.Map<K, java.util.List<V>> { V getFirst(K key); }',
  'jakarta.ws.rs.core.Response': 'abstract class Response {}',
  'org.keycloak.Config': 'class Config { public interface Scope {} }',
  'org.keycloak.provider.Provider': 'interface Provider { void close(); }',
  'org.keycloak.provider.ProviderConfigProperty': 'class ProviderConfigProperty {}',
  'org.keycloak.provider.ProviderFactory': `interface ProviderFactory<T extends Provider> {
    T create(KeycloakSession session);
    void init(Config.Scope config);
    void postInit(KeycloakSessionFactory factory);
    void close();
    String getId();
  }`,
  'org.keycloak.provider.ConfiguredProvider': `interface ConfiguredProvider {
    String getHelpText();
    java.util.List<ProviderConfigProperty> getConfigProperties();
  }`,
  'org.keycloak.models.KeycloakSession': 'interface KeycloakSession { KeycloakContext getContext(); }',
  'org.keycloak.models.KeycloakSessionFactory': 'interface KeycloakSessionFactory {}',
  'org.keycloak.models.KeycloakContext':
    'interface KeycloakContext { java.util.Locale resolveLocale(UserModel user); }',
  'org.keycloak.models.RealmModel': 'interface RealmModel {}',
  'org.keycloak.models.UserModel': 'interface UserModel { String getFirstAttribute(String name); }',
  'org.keycloak.models.AuthenticationExecutionModel':
    'class AuthenticationExecutionModel { public enum Requirement { REQUIRED, CONDITIONAL, ALTERNATIVE, DISABLED } }',
  'org.keycloak.sessions.AuthenticationSessionModel': `interface AuthenticationSessionModel {
    String getAuthNote(String name);
    void setAuthNote(String name, String value);
    void removeAuthNote(String name);
  }`,
  'org.keycloak.http.HttpRequest':
    'interface HttpRequest { MultivaluedMap<String, String> getDecodedFormParameters(); }',
  'org.keycloak.forms.login.LoginFormsProvider': `interface LoginFormsProvider extends Provider {
    LoginFormsProvider setAttribute(String name, Object value);
    LoginFormsProvider setError(String message, Object... parameters);
    Response createForm(String form);
  }`,
  'org.keycloak.authentication.AuthenticationFlowError':
    'enum AuthenticationFlowError { INVALID_CREDENTIALS }',
  'org.keycloak.authentication.AbstractAuthenticationFlowContext': `interface AbstractAuthenticationFlowContext {
    KeycloakSession getSession();
    HttpRequest getHttpRequest();
    void success();
    void challenge(Response challenge);
    void failureChallenge(AuthenticationFlowError error, Response challenge);
  }`,
  'org.keycloak.authentication.AuthenticationFlowContext': `interface AuthenticationFlowContext extends AbstractAuthenticationFlowContext {
    UserModel getUser();
    AuthenticationSessionModel getAuthenticationSession();
    LoginFormsProvider form();
  }`,
  'org.keycloak.authentication.Authenticator': `interface Authenticator extends Provider {
    void authenticate(AuthenticationFlowContext context);
    void action(AuthenticationFlowContext context);
    boolean requiresUser();
    boolean configuredFor(KeycloakSession session, RealmModel realm, UserModel user);
    void setRequiredActions(KeycloakSession session, RealmModel realm, UserModel user);
  }`,
  'org.keycloak.authentication.ConfigurableAuthenticatorFactory': `interface ConfigurableAuthenticatorFactory extends ConfiguredProvider {
    String getDisplayType();
    String getReferenceCategory();
    boolean isConfigurable();
    AuthenticationExecutionModel.Requirement[] getRequirementChoices();
    boolean isUserSetupAllowed();
  }`,
  'org.keycloak.authentication.AuthenticatorFactory':
    'interface AuthenticatorFactory extends ProviderFactory<Authenticator>, ConfigurableAuthenticatorFactory {}',
};

const packageOf = (name: string): string => name.replace(/\.\w+$/, '');
const PACKAGES = [...new Set(Object.keys(TYPES).map(packageOf))];

/** Java files by their path. */
export const CONTRACT: readonly [path: string, source: string][] = Object.entries(TYPES).map(
  ([name, type]) => [
    `${name.replaceAll('.', '/')}.java`,
    [`package ${packageOf(name)};`, ...PACKAGES.map((one) => `import ${one}.*;`), `public ${type}`].join(
      '\n',
    ),
  ],
);
