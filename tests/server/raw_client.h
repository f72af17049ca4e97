// RawClient: an HTTP client that sends any bytes whatever and shows what came back. Blocking, with deadlines.
//
//     RawClient client(port);
//     client.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
//     auto response = client.read();                 // nothing where none came
//     response->status == 200
//
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cairn {

struct RawResponse {
    int status = 0;
    std::map<std::string, std::string> headers;  ///< names in lower case
    std::string body;                            ///< chunks joined
    std::string text;                            ///< status line and headers as they came

    [[nodiscard]] std::string header(const std::string &name) const {
        const auto found = headers.find(name);
        return found == headers.end() ? std::string() : found->second;
    }
};

class RawClient {
public:
    /// `receive_buffer`: of the socket, in bytes; 0: the system's default.
    explicit RawClient(std::uint16_t port, const std::string &address = "127.0.0.1", int receive_buffer = 0);
    ~RawClient();
    RawClient(RawClient &&other) noexcept;
    RawClient &operator=(RawClient &&) = delete;

    [[nodiscard]] bool connected() const noexcept { return socket_ >= 0; }
    /// False where the other side has closed.
    bool send(std::string_view bytes);
    void get(std::string_view path, std::string_view headers = "");
    void post(std::string_view path, std::string_view body, std::string_view headers = "");
    /// The next whole response; `no_body`: of a HEAD request.
    [[nodiscard]] std::optional<RawResponse> read(bool no_body = false);
    /// The next response through its head, and then what of the body there is when `marker` has come.
    [[nodiscard]] std::optional<RawResponse> read_until(std::string_view marker);
    /// True once the other side has closed, with everything before that read and dropped.
    [[nodiscard]] bool closed();
    /// What came before the other side closed, as it is.
    [[nodiscard]] std::string read_all();
    void close_writing();
    void close();
    /// Closes with an RST.
    void reset();

private:
    bool receive();
    bool read_head(RawResponse &response);
    bool need(std::size_t bytes);
    bool read_chunks(RawResponse &response);

    int socket_ = -1;
    std::string buffer_;
    bool failed_ = false;  ///< a deadline passed, or the connection was reset
};

}  // namespace cairn
